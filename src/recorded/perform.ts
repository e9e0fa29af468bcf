import type { Case } from '../domain/case.ts';
import type { Effect } from '../domain/effect.ts';
import type { TrialRecord } from '../domain/record.ts';
import { buildRecord } from '../activities/build-record.ts';
import { checkCall } from '../activities/check-call.ts';
import type { OperationNote } from '../activities/contract.ts';
import { isPassing } from '../activities/failures.ts';
import { operate, WITHOUT_FAULTS } from '../activities/operate.ts';
import type { ActivityServices } from '../activities/services.ts';
import { ToolFailure } from '../environments/define.ts';
import { FencedError, type LoadedEnvironment, type World, WorldGoneError } from '../environments/world.ts';
import type { RecordedCall } from './run.ts';

/** Where recorded calls are made. */
export interface Stage {
  readonly services: ActivityServices;
  readonly environment: LoadedEnvironment;
  /** Its start and permissions; nothing else of it is used. */
  readonly kase: Case;
  readonly signal: AbortSignal;
}

/** Long enough for the longest run; a process that is killed leaves its worlds to the sweeper after this time. */
const LEASE_MS = 5 * 60_000;
const DRAIN_MS = 5_000;

/**
 * Makes calls, one after another, in a world of its own, through the same checks, ledger and transactions as a trial's, and tells what the ledger and the
 * systems of record hold after the fence. The world is given back whatever happens.
 *
 * @throws the signal's reason, between two calls; and whatever keeps a world from being made, used or given back.
 */
export async function perform(
  stage: Stage,
  owner: string,
  calls: readonly RecordedCall[],
  grading: { readonly error: string; readonly referenceEffects: readonly Effect[] | null },
): Promise<TrialRecord> {
  const { services, environment, kase, signal } = stage;
  const { worlds } = services;
  const ref = await worlds.provision(environment, { owner, workflowId: null, isolation: 'schema', leaseMs: LEASE_MS, kase });
  const world = await worlds.open(ref);
  try {
    const operations: OperationNote[] = [];
    for (const call of calls) {
      signal.throwIfAborted();
      operations.push(await makeCall(stage, world, call, operations));
    }
    await world.fence({ drainMs: DRAIN_MS });
    const request = {
      trial: owner,
      attempt: 1,
      world: ref,
      ending: grading.error === '' ? ('completed' as const) : ('agent_error' as const),
      problem: grading.error === '' ? null : { code: 'recorded_error', message: grading.error },
      operations,
    };
    return await buildRecord(world, environment.environment, { request, messages: [], referenceEffects: grading.referenceEffects });
  } finally {
    await services.toolServers.end(ref.id);
    await world.release();
  }
}

async function makeCall(stage: Stage, world: World, call: RecordedCall, before: readonly OperationNote[]): Promise<OperationNote> {
  const { services, environment, kase, signal } = stage;
  const { permission } = kase;
  const id = `op-${before.length + 1}`;
  const proposal = checkCall(environment.environment, permission, { id, tool: call.tool, args: call.args, idempotencyKey: null });
  await world.ledger.propose(proposal);
  const note = { id, seq: before.length + 1, tool: proposal.tool, position: null, problem: null, replayOf: null, disturbed: false };
  if (proposal.refusal) return { ...note, told: proposal.refusal.state, problem: proposal.refusal.problem };
  if (proposal.approval)
    return { ...note, told: 'denied', problem: { code: 'approval_expired', message: 'Nobody is there to approve a call that was recorded.' } };
  const position = before.filter((other) => other.tool === proposal.tool && other.position !== null).length + 1;
  try {
    await operate(services, { world, environment, permission, operation: id, tool: proposal.tool, dispatch: 1, signal, ...WITHOUT_FAULTS });
    return { ...note, position, told: 'committed' };
  } catch (error) {
    if (error instanceof ToolFailure) return { ...note, position, told: 'failed', problem: { code: error.code, message: error.message } };
    // Trouble of ours says nothing of the run.
    if (isPassing(error) || error instanceof WorldGoneError || error instanceof FencedError) throw error;
    return { ...note, position, told: 'unknown', problem: { code: 'tool_error', message: error instanceof Error ? error.message : String(error) } };
  }
}
