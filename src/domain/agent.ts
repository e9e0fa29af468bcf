import type { JsonObject } from './json.ts';
import type { PermissionContext, Solution } from './case.ts';
import type { ModelRoute, Money } from './model.ts';

/**
 * An agent as a batch knows it. `reference` plays the case's own solution; `do-nothing` answers and calls nothing;
 * `script` plays fixed steps; `module` is a TypeScript file's default export, run in a child process; `command` is a program of its own and `http` a server somewhere, both of which act through the gateway;
 * `model` is a prompt with a model, which trialbed itself asks; `team` is several of these, who hand over to each other.
 */
export type AgentSpec = { readonly name: string; readonly version: string } & (
  | { readonly kind: 'reference' }
  | { readonly kind: 'do-nothing'; readonly answer: string }
  | { readonly kind: 'script'; readonly solution: Solution }
  | {
      readonly kind: 'module';
      /** Absolute path of the file. */
      readonly file: string;
      /** Passed to the agent as they are; part of the trial's identity. */
      readonly parameters: JsonObject;
      /** Names of variables of our environment that the child may see. */
      readonly env: readonly string[];
      /** Services of its world whose address and credentials the child gets, so that it can speak to them with clients of its own. Absent: none. */
      readonly access?: readonly ServiceAccess[];
      /** Ways to models that it may ask through the gateway. Absent: none. */
      readonly routes?: readonly ModelRoute[];
      /** As of a command. */
      readonly providerVariables?: true;
    }
  | {
      readonly kind: 'command';
      /** Absolute path of the folder in which it runs, whose content is part of it. */
      readonly folder: string;
      /** A name that is looked up in PATH, or a path from the folder. */
      readonly program: string;
      readonly args: readonly string[];
      /** What it prints: its answer as a text, or a JSON object with `text` and `data`. */
      readonly output: 'text' | 'json';
      /** Passed to the agent as they are; part of the trial's identity. */
      readonly parameters: JsonObject;
      /** Names of variables of our environment that it may see, beside PATH. */
      readonly env: readonly string[];
      /** Services of its world whose address and credentials its environment holds. Absent: none. */
      readonly access?: readonly ServiceAccess[];
      /** Ways to models that it may ask through the gateway. Absent: none. */
      readonly routes?: readonly ModelRoute[];
      /** Its environment holds the gateway's addresses and its token under the names that providers' libraries read, too. Absent: no. */
      readonly providerVariables?: true;
    }
  | {
      readonly kind: 'model';
      readonly route: ModelRoute;
      /** Stands before the instructions in the system message. */
      readonly prompt: string;
      /** What its last message of a turn is: a text, or a JSON object with `text` and `data`. */
      readonly output: 'text' | 'json';
      /** Its own limits, beside those of the case. */
      readonly budget: { readonly steps?: number; readonly tokens?: number; readonly money?: Money };
    }
  | {
      readonly kind: 'http';
      /** Where a turn of the conversation is posted to. `http` or `https`, without credentials. */
      readonly url: string;
      /** Headers of every request to it: name, and the variable of our environment that holds the value. */
      readonly headers: { readonly [name: string]: string };
      /** What its answer's body is: a text, or a JSON object with `text` and `data`. */
      readonly output: 'text' | 'json';
      readonly timeouts: HttpAgentTimeouts;
      /** Passed to the agent as they are; part of the trial's identity. */
      readonly parameters: JsonObject;
      /** Services of its world whose address and credentials it is sent. Absent: none. */
      readonly access?: readonly ServiceAccess[];
      /** Ways to models that it may ask through the gateway. Absent: none. */
      readonly routes?: readonly ModelRoute[];
    }
  | {
      readonly kind: 'team';
      /** The member to whom the user speaks first. */
      readonly start: string;
      /** Name of the tool by which a member hands over. */
      readonly tool: string;
      readonly members: readonly TeamMember[];
    }
);

/** One of several agents in a trial, who give the conversation to each other. */
export interface TeamMember {
  readonly name: string;
  /** What it is for, as the others are told. */
  readonly does: string;
  readonly agent: MemberSpec;
  /** Its own permission context. What is not named is as the case has it; a call needs the case's permission as well. */
  readonly permission: Partial<Pick<PermissionContext, 'user' | 'role' | 'attributes' | 'tools'>>;
  /** Members to whom it may hand over. */
  readonly handsTo: readonly string[];
}

/** Kinds of agents that can be members. */
export const MEMBER_KINDS = ['model', 'module', 'command', 'http', 'script'] as const;

export type MemberSpec = Extract<AgentSpec, { readonly kind: (typeof MEMBER_KINDS)[number] }>;

/** An agent and, of a team, its members: whatever has files, access or variables of its own. */
export function partsOf(spec: AgentSpec): readonly AgentSpec[] {
  return spec.kind === 'team' ? [spec, ...spec.members.map(({ agent }) => agent)] : [spec];
}

/** What a member may, where the case permits it too. */
export function memberPermission({ permission }: TeamMember, ofCase: PermissionContext): PermissionContext {
  return { ...ofCase, ...permission, attributes: { ...ofCase.attributes, ...permission.attributes } };
}

/** Milliseconds. */
export interface HttpAgentTimeouts {
  /** For a connection to stand. */
  readonly connectMs: number;
  /** For the answer to one request; null: as long as the agent's own time lasts. */
  readonly answerMs: number | null;
  /** Between two questions whether the answer is there, where the server names no time of its own. */
  readonly pollMs: number;
}

/** What an agent of its own process may reach of its world: the SMTP server, the ticket service, the database as the world's role. */
export type ServiceAccess = 'inbox' | 'tickets' | 'sql';
