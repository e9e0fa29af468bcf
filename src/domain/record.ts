import type { ServiceAccess } from './agent.ts';
import type { ReplayedRoute } from './cassette.ts';
import type { Effect, LateAttempt } from './effect.ts';
import type { DrawnRule, InjectedFault } from './fault.ts';
import type { Json, JsonObject } from './json.ts';
import type { Operation } from './operation.ts';
import type { ProductionRuntime } from './runtime.ts';
import type { TrialModels } from './trial.ts';
import type { Ending } from './verdict.ts';

/** One message of the conversation. */
export interface Message {
  readonly turn: number;
  readonly from: 'user' | 'agent';
  readonly text: string;
  /** The agent's structured answer, where it gave one. */
  readonly data?: JsonObject | null;
  /** Of a question that was asked by a tool, and of its answer: the operation. */
  readonly operation?: string;
  /** The member of a team that said it; absent where the agent is no team, and of the user. */
  readonly actor?: string;
}

/** One member of a team gave the conversation to another. The user does not see it. */
export interface HandOver {
  /** The call by which it was done. */
  readonly operation: string;
  readonly from: string;
  readonly to: string;
  /** What the other was told. */
  readonly text: string;
  /** The user's message that was being dealt with. */
  readonly turn: number;
}

/** What the graders need to know of a table. */
export interface TableFacts {
  readonly key: readonly string[];
  /** Columns whose value never counts (an update stamp). */
  readonly ignored: readonly string[];
  /** Decimal places at which numbers of a column are compared. */
  readonly scale: { readonly [column: string]: number };
  /** How texts of a column are compared. Absent or not named: see `valuesEqual`. */
  readonly text?: { readonly [column: string]: TextComparison };
}

/** `exact`: letter by letter, no date-time is read in it. `caseless`: the same, letter case aside. */
export type TextComparison = 'exact' | 'caseless';

/** Everything that grading reads. A grader is a pure function from this and the case to a verdict. */
export interface TrialRecord {
  readonly ending: Ending;
  /** In order of acceptance. */
  readonly operations: readonly Operation[];
  /** Every change, in journal order (gross). Net effects are derived. */
  readonly effects: readonly Effect[];
  readonly messages: readonly Message[];
  /** In order. Absent where the agent is no team. */
  readonly handOvers?: readonly HandOver[];
  readonly lateAttempts: readonly LateAttempt[];
  readonly tables: { readonly [table: string]: TableFacts };
  /** Net effects of the case's reference solution from the same start; null unless an outcome is `same_as: reference`. */
  readonly referenceEffects: readonly Effect[] | null;
  /** What the agent had of clients of its own; absent: nothing, so that the ledger is whole. */
  readonly ownAccess?: OwnAccess;
  /** Calls that were asked for beyond the budget; they were refused and never sent. Absent: none. */
  readonly beyondBudget?: number;
  /** Why the agent ended other than by an answer. */
  readonly problem: { readonly code: string; readonly message: string; readonly detail?: Json } | null;
  /** What models used; absent where no call was measured. */
  readonly models?: TrialModels;
  /** What was removed from it since: by its age, or on a person's wish. Such a record is not graded again. Absent: nothing. */
  readonly removed?: readonly ('conversation' | 'subject')[];
  /** What went wrong on purpose, and what production is like. Absent in records of before there were schedules. */
  readonly faults?: RecordedFaults;
  /** Real services in place of fixtures, as they named themselves, by the contract that they fulfil: `{ tickets: Request Tracker 5.0.3 }`. Absent: none. */
  readonly live?: { readonly [contract: string]: string };
  /** It was played on a cassette: its effects are the recorded ones. Absent: they were observed. */
  readonly replayed?: ReplayedRoute;
}

/** What is done past the door is in no ledger; the systems of record show it as of no operation. */
export interface OwnAccess {
  readonly services: readonly ServiceAccess[];
  /**
   * Of an agent with SQL: what of the whole world, catalogue included, differs from its seed and stands in no journal; as `catalogue` or `table orders`. Null: it could not
   * be looked at. Absent: it had no SQL.
   */
  readonly unexplained?: readonly string[] | null;
}

/** A result is read with its fault schedule. */
export interface RecordedFaults {
  readonly schedule: string;
  readonly rules: readonly DrawnRule[];
  readonly injected: readonly InjectedFault[];
  readonly runtime: ProductionRuntime;
}
