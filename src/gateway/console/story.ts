import type { OperationApproval } from '../../domain/approval.ts';
import type { Effect, MailEffect } from '../../domain/effect.ts';
import type { InjectedFault } from '../../domain/fault.ts';
import type { Json } from '../../domain/json.ts';
import { knownOtherwise, type Operation, type OperationProblem } from '../../domain/operation.ts';
import type { TrialRecord } from '../../domain/record.ts';
import type { LedgerRow } from '../../environments/world.ts';
import type { LiveWorld } from './backend.ts';

/** What an attempt did, of its record or of its world while it runs. */
export interface Story {
  readonly live: boolean;
  readonly operations: readonly StoryOperation[];
  /** Effects and faults that belong to no operation. */
  readonly rest: { readonly effects: readonly Effect[]; readonly faults: readonly InjectedFault[] };
  readonly effects: readonly Effect[];
}

/** One operation with what came of it. */
export interface StoryOperation {
  readonly id: string;
  readonly seq: number;
  readonly tool: string;
  readonly actor: string | null;
  readonly args: Json;
  readonly key: string | null;
  /** What the agent was told; of a trial that runs, how it stands. */
  readonly state: string;
  /** What the systems of record know, where that is something else. */
  readonly known: string | null;
  readonly result: Json | null;
  readonly problem: OperationProblem | null;
  readonly detail: string | null;
  readonly durationMs: number | null;
  readonly at: string;
  /** Tries, recovering, an answer of another operation: each in a few words. */
  readonly notes: readonly string[];
  readonly approval: OperationApproval | null;
  readonly effects: readonly Effect[];
  readonly faults: readonly InjectedFault[];
}

/** As it was recorded. */
export function recordedStory(record: TrialRecord): Story {
  const injected = record.faults?.injected ?? [];
  return storyOf(false, record.operations.map(ofRecord), record.effects, injected);
}

/** As the world shows it now. */
export function liveStory({ operations, effects }: LiveWorld): Story {
  return storyOf(true, operations.map(ofLedger), effects, []);
}

/** Mails of an attempt, in order. */
export function mailsOf({ effects }: Pick<Story, 'effects'>): readonly MailEffect[] {
  return effects.filter((effect) => effect.kind === 'mail');
}

type Bare = Omit<StoryOperation, 'effects' | 'faults'>;

function storyOf(live: boolean, operations: readonly Bare[], effects: readonly Effect[], injected: readonly InjectedFault[]): Story {
  const known = new Set(operations.map(({ id }) => id));
  const owned = (effect: Effect) => effect.byFault === undefined && effect.operation !== null && known.has(effect.operation);
  const hit = (fault: InjectedFault) => fault.operation !== null && known.has(fault.operation);
  return {
    live,
    operations: operations.map((operation) => ({
      ...operation,
      effects: effects.filter((effect) => owned(effect) && effect.operation === operation.id),
      faults: injected.filter((fault) => fault.operation === operation.id),
    })),
    rest: { effects: effects.filter((effect) => !owned(effect)), faults: injected.filter((fault) => !hit(fault)) },
    effects,
  };
}

function ofRecord(operation: Operation): Bare {
  const { told, known, ended, reconciled } = operation;
  return {
    id: operation.id,
    seq: operation.seq,
    tool: operation.tool,
    actor: operation.actor ?? null,
    args: operation.args,
    key: operation.idempotencyKey,
    state: told,
    known: knownOtherwise(operation) ? known : null,
    result: operation.result,
    problem: operation.problem,
    detail: operation.detail ?? null,
    durationMs: operation.durationMs,
    at: operation.at,
    notes: [
      ...(operation.tries === undefined ? [] : [`${operation.tries} tries`]),
      ...(operation.replayOf == null ? [] : [`answered by ${operation.replayOf}`]),
      ...(operation.disturbed ? ['disturbed: the test bed had to recover it'] : []),
      ...(ended ? [`after it was told to wait: ${ended.state}${ended.problem ? ` (${ended.problem.code})` : ''}`] : []),
      ...(reconciled ? [`${reconciled.by} told the agent later that it is ${reconciled.state}`] : []),
    ],
    approval: operation.approval ?? null,
  };
}

function ofLedger(row: LedgerRow, at: number): Bare {
  return {
    id: row.id,
    seq: at + 1,
    tool: row.tool,
    actor: row.actor ?? null,
    args: row.args,
    key: row.idempotencyKey,
    state: row.state,
    known: null,
    result: row.result,
    problem: row.problem,
    detail: row.detail,
    durationMs: row.durationMs,
    at: row.at,
    notes: row.tries > 1 ? [`${row.tries} tries`] : [],
    approval: null,
  };
}
