import type { SimulatedUser } from './conversation/simulated-user.ts';
import type { ApprovalRule, CaseApprover } from './approval.ts';
import type { CaseCassette } from './cassette.ts';
import type { RowChange } from './effect.ts';
import type { Json, JsonObject } from './json.ts';
import type { Money } from './model.ts';
import type { Quarantine, Severity } from './trial-facts.ts';

/**
 * How a value is compared. A plain JSON value means equal after normalisation (numbers by value, times by instant, text by Unicode NFC, null only to null).
 * An object with one of these keys is an operator.
 */
export type Matcher =
  | Json
  | { readonly any: true }
  | { readonly one_of: readonly Json[] }
  | { readonly not: Json }
  | { readonly gte?: number | string; readonly lte?: number | string; readonly gt?: number | string; readonly lt?: number | string }
  | { readonly matches: string }
  | TextRule;

/**
 * What a text must and must not say. Words and numbers are found at their boundaries (`10` is not in `$110`), case and Unicode form aside.
 * An inner list means: any one of these.
 */
export interface TextRule {
  readonly says?: readonly (string | readonly string[])[];
  readonly not_says?: readonly string[];
}

export type Columns = { readonly [column: string]: Matcher };

/** Matches net changes of rows. */
export interface RowPattern {
  readonly row: string;
  readonly change: RowChange;
  /** Compared with the row after the change (before it, for a delete). Columns not named are free. */
  readonly where?: Columns;
  /** Compared with the row before the change. */
  readonly before?: Columns;
  /** For an update: the only columns that may differ; default: those named in `where`, plus the table's `ignored` columns. */
  readonly only?: readonly string[];
  /** How many rows; default exactly 1. */
  readonly count?: Count;
}

/** Matches accepted mails by their envelope. */
export interface MailPattern {
  /** Exact set of envelope recipients, by mailbox. */
  readonly mail: readonly string[];
  readonly from?: string;
  readonly subject?: Matcher;
  readonly body?: TextRule;
  readonly count?: Count;
}

export type EffectPattern = RowPattern | MailPattern;

export type Count = number | { readonly min?: number; readonly max?: number };

/** One accepted end state. */
export type Outcome = {
  readonly name: string;
  /** Fault schedules under which it is accepted; absent: it always is. */
  readonly under?: readonly string[];
} & (
  | {
      /** The net effects that must be there, each as often as it says. An empty list: nothing may change. */
      readonly effects: readonly EffectPattern[];
      /** Fields of the agent's structured answer. */
      readonly answer?: Columns;
    }
  | {
      /** The end state that the case's reference solution reaches from the same start. */
      readonly same_as: 'reference';
    }
);

export type Constraint =
  /** At most so many calls of a tool (all tools when not named) were dispatched. */
  | { readonly max_calls: number; readonly tool?: string; readonly name?: string }
  /** No call of `tool` is committed before a committed call of `before`, when `where` matches its arguments. */
  | { readonly never: string; readonly before: string; readonly where?: Columns; readonly name?: string }
  /** The tool must not be called at all (dispatched), when `where` matches its arguments. */
  | { readonly never: string; readonly where?: Columns; readonly name?: string }
  /** A committed call of this tool must be there. For reads on which a correct answer depends; prescribes no sequence. */
  | { readonly must_call: string; readonly where?: Columns; readonly name?: string }
  /** Calls of this tool must have been put before the approver, whatever was decided: so many, default at least one. */
  | { readonly must_ask_approval: string; readonly where?: Columns; readonly count?: Count; readonly name?: string }
  /** A call of this tool (`*`: of any that writes) whose outcome is unknown is not made again before the agent has read something. */
  | { readonly look_before_repeat: string; readonly name?: string }
  | FallbackConstraint;

/**
 * What the agent falls back to once a fault was injected into a tool or a service (`after_fault`, by name; `inbox`, `tickets` and `database` are services where no
 * tool has the name). Where no such fault was injected the rule has nothing to say.
 */
export type FallbackConstraint =
  /** No call of `never` is dispatched after the first such fault, when `where` matches its arguments. */
  | { readonly after_fault: string; readonly never: string; readonly where?: Columns; readonly name?: string }
  /** A committed call of `must_call` comes after the first such fault, when `where` matches its arguments. */
  | { readonly after_fault: string; readonly must_call: string; readonly where?: Columns; readonly name?: string };

/** What an answer may say about an effect. */
export type AssertedState = 'done' | 'not_done' | 'unknown';

/**
 * A typed assertion that the answer has to make, bound to what the world shows.
 * With `effect`, the right state is read from the world: matched means `done`, an operation of unknown outcome means `unknown`, else `not_done`.
 */
export type Claim =
  | {
      readonly claim: 'effect';
      readonly name: string;
      /** Words for the thing done, as an answer may name it: `[refund, refunded, reimbursed, money back]`. */
      readonly topic: readonly string[];
      /** The effect in the world that decides what is true. */
      readonly effect?: EffectPattern;
      /** The right state where no effect is bound. */
      readonly state?: AssertedState;
      /** An answer that is silent about it: `fail` (default) or `pass`. A false assertion always fails. */
      readonly silent?: 'fail' | 'pass';
    }
  | { readonly claim: 'amount'; readonly name: string; readonly equals: number; readonly currency?: string; readonly topic?: readonly string[] }
  | { readonly claim: 'id'; readonly name: string; readonly equals: string; readonly topic?: readonly string[] }
  | { readonly claim: 'date'; readonly name: string; readonly equals: string; readonly topic?: readonly string[] }
  | { readonly claim: 'recipient'; readonly name: string; readonly equals: string }
  | { readonly claim: 'text'; readonly name: string; readonly rule: TextRule };

export interface Budget {
  /** Tool calls, refused ones included. */
  readonly calls: number;
  /** Wall time of the agent's part, milliseconds. */
  readonly wallMs: number;
  /** Messages of the user, answers to questions included. */
  readonly turns: number;
  /** Calls of the agent's models. Absent: the agent's own limit, or 50. */
  readonly steps?: number;
  /** Of the agent's models, input and output together. Absent: no limit. */
  readonly tokens?: number;
  /** What the agent's models may cost. Absent: no limit. */
  readonly money?: Money;
}

/** Who the agent acts for, and what it may do. */
export interface PermissionContext {
  readonly user: string;
  readonly role: string;
  /** Tools that the agent may call; those that it may see but not call are `denied`. */
  readonly tools: readonly string[];
  /** Free facts that the pack's permission model reads. */
  readonly attributes: JsonObject;
  /** Calls that need an approval, beside those that the environment says; absent: none. */
  readonly approval?: readonly ApprovalRule[];
}

/** A change of the seed before the agent starts. */
export type StateChange =
  | { readonly insert: string; readonly rows: readonly JsonObject[] }
  | { readonly update: string; readonly where: JsonObject; readonly set: JsonObject }
  | { readonly delete: string; readonly where: JsonObject };

/** One step of a script: a call, or a message to the user. Values `${name.path}` refer to the results of earlier steps. */
export type ScriptStep =
  | {
      readonly call: string;
      readonly with?: JsonObject;
      /** Name under which later steps find `{state, result, problem}`; `${name.path}` reads from `result`. */
      readonly as?: string;
      readonly key?: string;
      /** The call is meant to be rejected, so nobody holds it against the tool's schema beforehand. */
      readonly invalid?: true;
    }
  | { readonly say: string };

export interface Solution {
  readonly steps: readonly ScriptStep[];
  readonly answer: string;
  /** Structured answer, where the case asks for one. */
  readonly data?: JsonObject;
}

export interface Expectations {
  readonly outcomes: readonly Outcome[];
  /** Effects that may happen and need not. */
  readonly allowed: readonly EffectPattern[];
  /** Gives a better name to an effect that is forbidden anyway. */
  readonly forbidden: readonly { readonly name: string; readonly effect: EffectPattern }[];
  readonly constraints: readonly Constraint[];
  readonly claims: readonly Claim[];
  /**
   * A second write of one tool with equal arguments. `forbid` (default): not when both are committed. `forbid_attempts`: nor when the first is committed and the tool
   * refuses the second, which then had no effect.
   */
  readonly repeatedWrites: 'forbid' | 'forbid_attempts' | 'allow';
}

/** A surviving mutant that the author has looked at and explains. */
export interface MutantNote {
  /** Id of the mutant as `trialbed validate` prints it; `*` at the end matches any rest. */
  readonly mutant: string;
  readonly why: string;
}

export interface Case {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly tags: readonly string[];
  /** How bad it is when it fails. Absent: `medium`. */
  readonly severity?: Severity;
  /** It runs and is shown, and gates nothing until a date. Absent: it counts. */
  readonly quarantine?: Quarantine;
  /** The user's messages. The first is the request; a single request is a conversation of one turn. */
  readonly turns: readonly string[];
  /** Who says everything after the first message. Absent: the user says what is in `turns` and no more. */
  readonly conversation?: SimulatedUser;
  readonly permission: PermissionContext;
  /** Who decides what needs an approval; absent: nobody. */
  readonly approver?: CaseApprover;
  /** World time at the start, ISO 8601 with offset. */
  readonly clock: string;
  /** IANA name, for example `Europe/Berlin`. */
  readonly timezone: string;
  readonly budget: Budget;
  readonly state: readonly StateChange[];
  /** A do-nothing agent passes: the case expects no change and no particular answer. */
  readonly expectsNothing: boolean;
  readonly expect: Expectations;
  readonly reference: Solution;
  readonly mutants: readonly MutantNote[];
  /** Its tools are answered from this recording, and no world is made for it. Absent: they act. */
  readonly cassette?: CaseCassette;
}
