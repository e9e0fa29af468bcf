import type { Json, JsonObject } from '../domain/json.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { ToolSchema } from './world.ts';

/**
 * What a module agent is: the default export of its file. It runs in a process of its own, which holds nothing of the harness's environment but
 * the variables that the agent's description names. The conversation is over when `receive` gives null or when the function returns;
 * a returned reply is given as the last one. A thrown error ends the trial as `agent_error`, graded on the world it left.
 */
export type ModuleAgent = (session: AgentSession) => Promise<AgentReply | undefined> | Promise<void>;

/** The agent's side of one trial. */
export interface AgentSession {
  /** Policy and permission context, as a system prompt would hold them. */
  readonly instructions: string;
  readonly tools: readonly ToolSchema[];
  /** `parameters` of the agent's description, as they are. */
  readonly parameters: JsonObject;
  /** What the agent's description asks for by `access`: services of its world, for clients of its own. What is done through them belongs to no operation. */
  readonly services: AgentServices;
  /** Calls a tool and waits for what the agent is told of it. Never rejects for what a tool does: read `state`. */
  call(tool: string, args: JsonObject, options?: CallOptions): Promise<CallResult>;
  /** The next message of the user. The first is the request; null when the conversation is over. */
  receive(): Promise<UserMessage | null>;
  /** Answers the user and ends the agent's turn. `data` is the structured answer, where a case asks for one. */
  reply(text: string, data?: JsonObject): Promise<void>;
}

export interface AgentServices {
  /** SMTP without TLS, AUTH PLAIN or LOGIN. */
  readonly inbox?: { readonly host: string; readonly port: number; readonly user: string; readonly password: string };
  /** JSON over HTTP; `/openapi.json` describes it. The headers hold the bearer token. */
  readonly tickets?: { readonly url: string; readonly headers: { readonly [name: string]: string } };
  /** PostgreSQL, as the world's own role. Needs isolation `database` or `container`. */
  readonly sql?: { readonly url: string };
}

export interface CallOptions {
  /** For tools that take one: the same key within a trial is one operation. */
  readonly idempotencyKey?: string;
}

/** How a call ended, in the words in which production would tell it. */
export interface CallResult {
  /** Id of the operation. */
  readonly operation: string;
  /** `unknown`: it may have had its effect; neither success nor failure. */
  readonly state: ToldState;
  /** What the tool returned; null unless `committed`. */
  readonly result: Json | null;
  /** Why it did not commit; null when it did. */
  readonly problem: OperationProblem | null;
}

export interface UserMessage {
  /** From 1. */
  readonly turn: number;
  readonly text: string;
  /** The member of a team that has handed the conversation over with this text; absent: the user says it. */
  readonly from?: string;
}

export interface AgentReply {
  readonly text: string;
  readonly data?: JsonObject;
}
