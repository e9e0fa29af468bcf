import type { OperationNote } from '../../activities/contract.ts';
import { definiteOf } from '../../activities/plan.ts';
import type { JsonObject } from '../../domain/json.ts';
import { runtimeOf } from '../../environments/runtime-tools.ts';
import type { LedgerRow, LoadedEnvironment } from '../../environments/world.ts';
import type { ExactSnapshot } from '../../environments/worlds/snapshot.ts';
import { inProductionWords } from '../../workflows/wording.ts';

/** Faults that leave the reply to a call as its tool gave it. A slow reply may have come too late. */
const SILENT: ReadonlySet<string> = new Set(['stale_read', 'concurrent_change', 'conflicting_records', 'duplicate_delivery']);

/** Faults by which a call is refused before it is sent, and told so. */
const REFUSING: ReadonlySet<string> = new Set(['rate_limited', 'unavailable', 'payload_too_large']);

/** With what a row of a ledger is read. */
export interface LedgerReading {
  readonly faults: Pick<ExactSnapshot['faults'], 'rows'>;
  readonly environment: Pick<LoadedEnvironment, 'environment'>;
  /** The trial has a fault schedule. */
  readonly scheduled: boolean;
  /** What was told of all calls before it. */
  readonly before: readonly OperationNote[];
}

/**
 * What the agent was told of a call, from what the ledger of its world has of it. Null where more than one answer fits: its reply may have been lost, or come too late; it
 * may have repeated another by its key, or have waited for an approval; what a look-up found may have changed what an earlier call is known to be.
 */
export function noteFromLedger(row: LedgerRow, { faults, environment: { environment }, scheduled, before }: LedgerReading): OperationNote | null {
  const { id, tool: name, refusal, state, problem } = row;
  const { words } = runtimeOf(environment);
  const note = { id, seq: before.length + 1, tool: name, replayOf: null, disturbed: false };
  if (refusal) {
    // Under a schedule, the contract by which it was refused may have been another.
    if (scheduled && refusal.problem.code === 'invalid_args') return null;
    const told = refusal.state;
    return {
      ...note,
      position: null,
      told,
      problem: told === 'denied' ? inProductionWords(refusal.problem, { tool: name, state: told }, words) : refusal.problem,
    };
  }
  const tool = environment.tools.find((candidate) => candidate.name === name);
  if (!tool || row.idempotencyKey !== null || row.approval !== undefined) return null;
  if (tool.builtin === 'lookup' && before.some(isOpen)) return null;
  const hits = kindsOf(faults, id);
  const position = Math.max(0, ...before.filter((other) => other.tool === name).map((other) => other.position ?? 0)) + 1;
  if (state === 'committed' && hits.every((kind) => SILENT.has(kind))) return { ...note, position, told: 'committed', problem: null };
  const refused = state === 'failed' && problem !== null && definiteOf(tool).includes(problem.code);
  if (!refused || !hits.every((kind) => SILENT.has(kind) || REFUSING.has(kind))) return null;
  return { ...note, position, told: 'failed', problem: inProductionWords(problem, { tool: name, state: 'failed' }, words) };
}

/** Nobody has told the agent yet how it ended. */
function isOpen({ told, reconciled, ended }: OperationNote): boolean {
  return (told === 'unknown' || told === 'awaiting_approval') && !reconciled && !ended;
}

function kindsOf({ rows }: LedgerReading['faults'], operation: string): readonly string[] {
  const faults = (rows['faults'] ?? []) as readonly JsonObject[];
  return faults.filter((fault) => fault['operation'] === operation).map((fault) => String(fault['kind']));
}
