import type { ChatMessage } from './chat.ts';
import type { Effect } from './effect.ts';
import type { DrawnRule, InjectedFault } from './fault.ts';
import type { Json, JsonObject } from './json.ts';
import type { ModelUsage } from './model.ts';
import type { KnownState, OperationProblem } from './operation.ts';
import type { TableFacts } from './record.ts';
import type { Judgement } from './verdict.ts';

/** What an environment's services are. Nothing is recorded from `production`. */
export type Binding = 'fixture' | 'sandbox' | 'production';

/** The judgements of a verdict, without what they rest on. */
export interface Judgements {
  readonly pass: Judgement;
  readonly outcome: Judgement;
  readonly constraints: Judgement;
  readonly effects: Judgement;
}

/** One call of a tool as it was recorded: what was asked, what was told, what it did. Redacted. */
export interface Interaction {
  readonly tool: string;
  /** As validated. */
  readonly args: Json;
  /** Digest of the permission context in which it was made; {@link Cassette.scopes} has it. */
  readonly scope: string;
  /** Digest of the tool's schema. */
  readonly schema: string;
  readonly told: 'committed' | 'failed' | 'unknown';
  /** Of a call whose outcome was unknown to the agent: what a later look-up told. */
  readonly result: Json | null;
  readonly problem: OperationProblem | null;
  /** What the systems of record knew in the end. */
  readonly known: KnownState;
  /** Rows and mails that came with it, in order. `operation` is null in all of them: it is the call that is answered by this. */
  readonly effects: readonly Effect[];
}

/** What one route through one case was answered. */
export interface Cassette {
  readonly version: 1;
  readonly case: string;
  readonly variant: string;
  /** What it was recorded from; `trace`: nothing was recorded, a trace told it. */
  readonly binding: Exclude<Binding, 'production'> | 'trace';
  readonly recorded: {
    readonly agent: string;
    readonly schedule: string;
    readonly environment: string;
    /** Of the environment. */
    readonly generation: string;
    /** Hash of what the case begins with: see {@link CaseCassette.start}. */
    readonly start: string;
    /** Hash of the case by which the verdict was given. */
    readonly caseHash: string;
    readonly verdict: Judgements;
  };
  /** Permission contexts by digest. */
  readonly scopes: { readonly [digest: string]: JsonObject };
  /** What the tools took, by the digest of their schema: JSON Schema. */
  readonly schemas: { readonly [digest: string]: { readonly tool: string; readonly input: JsonObject } };
  /** In the order in which the calls were accepted. */
  readonly interactions: readonly Interaction[];
  /** Changes that were no doing of any of these calls, such as those of a fault rule at the start. */
  readonly others: readonly Effect[];
  readonly tables: { readonly [table: string]: TableFacts };
  /** What went wrong on purpose. Absent: it was recorded without a fault schedule. */
  readonly faults?: {
    readonly rules: readonly DrawnRule[];
    /** Each with the place of the interaction that it hit, from 1; null: it hit none of them. */
    readonly injected: readonly (Omit<InjectedFault, 'operation'> & { readonly interaction: number | null })[];
  };
  /** Effects of the case's reference solution; null unless an outcome is `same_as: reference`. */
  readonly referenceEffects: readonly Effect[] | null;
  /** What the agent's model replied. Absent: no replies were recorded, and the model is asked. */
  readonly models?: CassetteModels;
  /** It was drafted from a trace, which tells what tools answered and not what they changed. Absent: it was recorded. */
  readonly draft?: CassetteDraft;
}

/** The parts of everything that a model's reply may depend on, each as a digest of its canonical JSON. A reply answers where all of them are the same. */
export interface ModelKey {
  /** Where it is, in which format, which model, and the seed that is asked for. */
  readonly route: string;
  readonly parameters: string;
  /** What was said: system, user and model. */
  readonly history: string;
  /** What tools told it. */
  readonly context: string;
  /** Tools as they are offered. */
  readonly tools: string;
  /** Permission scope. */
  readonly scope: string;
  /** Of the environment. */
  readonly generation: string;
  /** What the world held: what the case begins with, and all that was changed since. */
  readonly world: string;
}

/** A reply of a model, found by all that it may depend on. */
export interface ModelEntry {
  readonly key: ModelKey;
  /** Place of the reply in the conversation, from 1: what comes before it is what the model was told. */
  readonly at: number;
  /** Version that the provider reported; null: none. */
  readonly reported: string | null;
  /** Null: not reported. */
  readonly usage: ModelUsage | null;
}

/** The conversation of an agent with its model. */
export interface CassetteModels {
  readonly conversation: readonly ChatMessage[];
  readonly replies: readonly ModelEntry[];
  /** Routes, parameters and tools by their digest, so that a difference can be told. */
  readonly inputs: { readonly [digest: string]: Json };
}

/** What a cassette that was drafted does not know. */
export interface CassetteDraft {
  /** Where the trace was. */
  readonly of: string;
  /** Places of interactions, from 1, of which nobody has said yet what they changed. It is played once there is none. */
  readonly effects: readonly number[];
}

/** How two values of an argument are compared beside equality. */
export type Normalisation = 'ignore' | 'caseless' | 'spaces' | 'number' | 'instant' | 'mailbox' | 'unordered';

/** A field of an argument that need not be the same to the letter, and why. */
export interface NormalisationRule {
  /** `*`: of every tool. */
  readonly tool: string;
  /** Path in the arguments, such as `filter.name` or `lines[].sku`. */
  readonly field: string;
  readonly as: Normalisation;
  readonly reason: string;
}

/** A case that is played on a cassette. */
export interface CaseCassette {
  readonly cassette: Cassette;
  readonly normalise: readonly NormalisationRule[];
  /** The model is asked, whatever replies were recorded. Absent: recorded replies are the only ones. */
  readonly liveModels?: true;
  /** Hash of the case without its cassette. */
  readonly caseHash: string;
}

/** How a trial went along its cassette; beside its verdict. */
export interface ReplayedRoute {
  readonly variant: string;
  /** `recorded`: exactly the recorded calls in the recorded order, so that the verdict stands for one of a world of that kind. `other`: it does not. */
  readonly route: 'recorded' | 'other';
  readonly interactions: number;
  /** Places of interactions that no call was answered by, from 1. */
  readonly unused: readonly number[];
  /** The calls that have an effect are the first ones of the recording, in its order: their effects go together. */
  readonly writesInOrder: boolean;
}

/** A judgement that is not the one of the recorded trial. */
export interface VerdictDifference {
  readonly view: keyof Judgements;
  readonly recorded: Judgement;
  readonly now: Judgement;
}

/** What differs from the verdict with which the route was recorded; in order of the views. */
export function verdictDifferences(recorded: Judgements, now: Judgements): readonly VerdictDifference[] {
  const views = ['pass', 'outcome', 'constraints', 'effects'] as const;
  return views.flatMap((view) => (recorded[view] === now[view] ? [] : [{ view, recorded: recorded[view], now: now[view] }]));
}

/** Id of a case that is played on one of its cassettes. No case of a suite has such an id. */
export function caseOnCassette(caseId: string, variant: string): string {
  return `${caseId}@${variant}`;
}
