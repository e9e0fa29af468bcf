import { WorkflowNotFoundError } from '@temporalio/client';
import type { OperationNote } from '../../activities/contract.ts';
import type { Operation } from '../../domain/operation.ts';
import { outageOf } from '../../domain/outage.ts';
import type { LedgerRow } from '../../environments/world.ts';
import type { ExactSnapshot } from '../../environments/worlds/snapshot.ts';
import type { BatchRow, TrialRow } from '../../store/store.ts';
import { Content } from '../../worker/content.ts';
import type { Root } from '../../worker/root.ts';
import { notesQuery } from '../../workflows/messages.ts';
import { PointRefusedError } from './errors.ts';
import { noteFromLedger } from './from-ledger.ts';
import type { TrialState } from './trial-state.ts';

/** How long a workflow may take to say what it told. */
const ANSWERS_MS = 5_000;

/**
 * What the agent was told of the first `count` calls: from the record of an attempt that was graded, from the workflow, or, where that cannot answer, from the ledger, as
 * far as it leaves no doubt.
 *
 * @throws {PointRefusedError} where what was told is not known
 */
export async function toldOf(
  root: Pick<Root, 'store' | 'temporal' | 'loadEnvironment'>,
  trial: TrialRow,
  batch: BatchRow,
  { state, count }: { readonly state: TrialState; readonly count: number },
): Promise<readonly OperationNote[]> {
  if (count === 0) return [];
  const { id, attempt } = trial;
  const rows = state.snapshot.operations.slice(0, count);
  const record = await root.store.record(id, attempt);
  const notes = record ? record.operations.map((operation) => noteOf(operation, record.faults?.injected ?? [])) : await askedOf(root, trial);
  const wanted = rows.map((row) => row.id);
  if (notes) {
    const known = new Map(notes.map((note) => [note.id, note]));
    return wanted.map((operation) => within(known.get(operation) ?? unanswered(id, operation), wanted));
  }
  const earlier = await root.store.origin(id, attempt);
  const { faults } = state.snapshot as ExactSnapshot;
  const environment = await new Content(root.loadEnvironment).environment(batch.environment);
  const told: OperationNote[] = [];
  for (const row of rows) {
    const recalled = earlier?.notes.find((note) => note['id'] === row.id) as OperationNote | undefined;
    told.push(recalled ?? noteFromLedger(row, { faults, environment, scheduled: trial.scheduleHash !== null, before: told }) ?? unsure(id, row));
  }
  return told;
}

/** Null where the workflow is not there, or nobody answers for it. */
async function askedOf({ temporal }: Pick<Root, 'temporal'>, { id, attempt }: TrialRow): Promise<readonly OperationNote[] | null> {
  try {
    const answer = await temporal.withDeadline(Date.now() + ANSWERS_MS, () => temporal.workflow.getHandle(id).query(notesQuery));
    return answer.attempt === attempt ? answer.notes : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || outageOf(error) === null) return null;
    return null;
  }
}

function noteOf(
  operation: Operation,
  injected: readonly { readonly rule: number; readonly position: number | null; readonly operation: string | null; readonly kind: string }[],
): OperationNote {
  const { id, seq, tool, position, told, problem, replayOf = null, disturbed, reconciled, approval, ended } = operation;
  const refused =
    position === null
      ? injected.find((fault) => fault.operation === id && (fault.kind === 'permission_revoked' || fault.kind === 'schema_changed'))
      : undefined;
  return {
    ...{ id, seq, tool, position, told, problem, replayOf, disturbed },
    ...(refused && { refusedBy: { rule: refused.rule, position: refused.position ?? 0 } }),
    ...(reconciled && { reconciled }),
    ...(approval?.end && { approval: approval.end }),
    ...(ended && { ended }),
  };
}

/** What a later call found out is not known yet. */
function within({ reconciled, ...note }: OperationNote, operations: readonly string[]): OperationNote {
  return reconciled && operations.includes(reconciled.by) ? { ...note, reconciled } : note;
}

function unanswered(trial: string, operation: string): never {
  throw new PointRefusedError(trial, `${operation} of ${trial} has not been answered yet; take an earlier operation, or wait until it is`);
}

function unsure(trial: string, { id, tool }: LedgerRow): never {
  throw new PointRefusedError(
    trial,
    `what the agent was told of ${id} (${tool}) is known to its workflow alone, which does not answer; start a worker for its batch, or take an operation before it`,
  );
}
