import type { MailEffect, LateAttempt, RowEffect } from '../../domain/effect.ts';
import type { InjectedFault } from '../../domain/fault.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelCall } from '../../domain/model.ts';
import type { Operation } from '../../domain/operation.ts';
import type { HandOver, Message, OwnAccess } from '../../domain/record.ts';
import type { TrialSummary } from '../../domain/trial.ts';
import type { Ending, Finding, RecoveryNote } from '../../domain/verdict.ts';
import type { ConversationEntry } from '../../store/conversation.ts';
import type { AttemptRow, LateRequest, StoredVerdict } from '../../store/store.ts';

/** One attempt of a trial, step by step: everything that its page shows, and nothing of how. Holds foreign text, unescaped. */
export interface Trace {
  readonly type: 'trace';
  readonly version: 1;
  readonly head: TraceHead;
  /** In the order in which they happened, as far as the record tells it; `n` counts them from 1. */
  readonly steps: readonly TraceStep[];
  /** What failed first, then what could not be determined, then the rest, each in the order of the verdict. */
  readonly findings: readonly TraceFinding[];
  /** How the agent went on after writes of unknown outcome. */
  readonly recovery: readonly (RecoveryNote & { readonly step: number | null })[];
  /** Rows that anybody changed, in the order of their first change. Tickets and their comments are among them. */
  readonly rows: readonly TraceRow[];
  /** Tickets that were made, changed or commented on; null: which tables hold them is not known. */
  readonly tickets: readonly TraceTicket[] | null;
  readonly conversation: readonly TraceSaid[];
  /** Calls of models and what is kept of what was said: redacted where it was kept. */
  readonly models: { readonly calls: readonly ModelCall[]; readonly entries: readonly ConversationEntry[] };
  /** The step to look at first: where the worst finding came from. */
  readonly focus: number;
  /** What a reader should know that is missing, in a sentence each. */
  readonly missing: readonly string[];
}

/** What is known of the attempt as a whole. */
export interface TraceHead {
  readonly trial: string;
  readonly batch: string;
  readonly case: string;
  readonly title: string;
  readonly agent: string;
  readonly agentHash: string;
  readonly repetition: number;
  readonly attempt: number;
  /** It is the attempt that counts. */
  readonly counts: boolean;
  readonly attempts: readonly AttemptRow[];
  /** Null: it has not ended. */
  readonly ending: Ending | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Null: it was not graded. */
  readonly verdict: StoredVerdict | null;
  /** In one sentence, of the attempt that counts. */
  readonly why: string | null;
  readonly summary: TrialSummary | null;
  readonly user: { readonly name: string; readonly role: string };
  /** Where the world's clock began. */
  readonly clock: { readonly at: string; readonly timezone: string };
  readonly schedule: TraceSchedule | null;
  readonly origin: { readonly trial: string; readonly attempt: number; readonly calls: number } | null;
  readonly ownAccess: OwnAccess | null;
  readonly beyondBudget: number;
}

/** What was to go wrong, and how often it did. */
export interface TraceSchedule {
  readonly name: string;
  readonly title: string;
  readonly rules: readonly { readonly text: string; readonly fired: number | null }[];
}

/**
 * `said`: a message between user and agent. `operation`: a call of a tool. `outside`: rows or mails that no call of the agent's caused: somebody else's, or by a client of the
 * agent's own. `fault`: one that met no call. `end`: the agent's work is over, the door is closed. `late`: what came after that. `verdict`: what it was judged.
 */
export type TraceStepKind = 'said' | 'operation' | 'outside' | 'fault' | 'end' | 'late' | 'verdict';

export interface TraceStep {
  /** Place in the list, from 1. */
  readonly n: number;
  readonly kind: TraceStepKind;
  /** World clock, ISO 8601; null: it is not recorded. */
  readonly at: string | null;
  /** Milliseconds by which the world's clock had moved on since the step before; 0: it stood still. */
  readonly clockMovedMs: number;
  readonly operation: Operation | null;
  /** Answered from the record of the trial that this one goes on from. */
  readonly recalled: boolean;
  readonly handOver: HandOver | null;
  readonly messages: readonly Message[];
  /** In journal order. */
  readonly changes: readonly RowEffect[];
  readonly mails: readonly MailEffect[];
  /** Faults that were injected here. */
  readonly faults: readonly InjectedFault[];
  /** Of `outside`: who did it. */
  readonly by: 'fault' | 'approver' | 'unattributed' | null;
  /** Whether its place among its neighbours is recorded, or the only one that the order of the journal or of the conversation leaves open. */
  readonly placed: boolean;
  readonly late: readonly LateAttempt[];
  readonly lateRequests: readonly LateRequest[];
  /** Places in `findings` that name this step, the worst first. */
  readonly findings: readonly number[];
  readonly links: readonly TraceLink[];
  /** What the model said with the call: its place in `models.entries`; null: not kept, or not to be told apart. */
  readonly entry: number | null;
}

/** What one step has to do with another. */
export interface TraceLink {
  readonly step: number;
  readonly what: 'repeats' | 'repeated_by' | 'answered_by' | 'answers' | 'looked_up_by' | 'looks_up' | 'changed_outside' | 'hit' | 'while_waiting';
}

/** A finding with the steps that it is about. */
export interface TraceFinding extends Finding {
  readonly view: 'outcome' | 'constraints' | 'effects';
  /** In order. Empty: it is about what no step did. */
  readonly steps: readonly number[];
  /** The one that caused it: of several the last, which made it so. */
  readonly cause: number | null;
}

/** What a row went through. */
export interface TraceRow {
  readonly table: string;
  /** As it was at first. */
  readonly key: JsonObject;
  /** Before anybody changed it; null: it was not there. */
  readonly before: JsonObject | null;
  /** In journal order. */
  readonly states: readonly TraceRowState[];
}

export interface TraceRowState {
  readonly step: number;
  /** Whole row; null: it was deleted. */
  readonly row: JsonObject | null;
  /** By somebody else's hand. */
  readonly outside: boolean;
}

export interface TraceTicket {
  readonly key: string;
  /** Places in `rows`: the ticket's own, where it was changed, and its comments'. */
  readonly row: number | null;
  readonly comments: readonly number[];
}

/** A message, and at which step it was said. */
export interface TraceSaid {
  readonly step: number;
  readonly message: Message;
}
