import { lookupInput, MAX_WAIT_SECONDS, waitInput } from '../environments/runtime-tools.ts';
import { handOverInput } from '../environments/team-tool.ts';
import { type Tool, ToolFailure } from '../environments/define.ts';
import type { Json } from '../domain/json.ts';
import { EVERY_DISPATCH, type LedgerRow, type World } from '../environments/world.ts';
import type { OperateResult } from './contract.ts';

export interface RuntimeCall {
  readonly world: World;
  readonly tool: Tool;
  readonly operation: string;
  readonly dispatch: number;
  readonly args: Json;
  /** Of a look-up: the operation that it asks for, where the workflow has told its end. */
  readonly ended: string | null;
  /** Of a look-up: whether whoever asks may be told of this operation. */
  readonly sees: (row: LedgerRow) => boolean;
}

/** Carries out a call of a tool that production itself has: the look-up, the wait, or a hand-over. @throws {ToolFailure} `not_found` for an operation that is not there. */
export async function runRuntimeCall(call: RuntimeCall): Promise<Pick<OperateResult, 'found'>> {
  const startedAt = performance.now();
  const { result, found } = await carriedOut(call);
  await call.world.ledger.settle(call.operation, call.dispatch, { state: 'committed', result, durationMs: performance.now() - startedAt });
  return found ? { found } : {};
}

async function carriedOut(call: RuntimeCall): Promise<Told> {
  switch (call.tool.builtin) {
    case 'wait':
      return wait(call);
    case 'hand_over':
      // That the other goes on from here is the workflow's part.
      return { result: { handed_over_to: handOverInput.parse(call.args).to } };
    default:
      return lookUp(call);
  }
}

/** What a look-up told, from its own ledger row: a dispatch whose reply was lost is not asked again. */
export function foundIn(row: LedgerRow): OperateResult['found'] {
  const result = row.result as { operation?: unknown; state?: unknown } | null;
  if (typeof result?.operation !== 'string' || (result.state !== 'committed' && result.state !== 'failed' && result.state !== 'denied')) return undefined;
  return { operation: result.operation, state: result.state };
}

interface Told {
  readonly result: Json;
  readonly found?: NonNullable<OperateResult['found']>;
}

async function wait({ world, operation, args }: RuntimeCall): Promise<Told> {
  const { seconds, until } = waitInput.parse(args);
  const to = until === undefined ? null : new Date(until);
  const { now: before } = await world.clock();
  if (to !== null && to.getTime() - before.getTime() > MAX_WAIT_SECONDS * 1000) {
    throw new ToolFailure('too_long', `One call waits ${MAX_WAIT_SECONDS / 86_400} days at most; it is ${before.toISOString()}.`);
  }
  const now = await world.faults.advance(operation, to === null ? { seconds: seconds ?? 0 } : { to });
  return { result: { now: now.toISOString() } };
}

/**
 * The system of record is asked. What may still be on its way is fenced first, so that the answer stays true; an operation that has not ended for the agent is left
 * alone, whatever id an agent may guess.
 */
async function lookUp({ world, args, ended, sees }: RuntimeCall): Promise<Told> {
  const { operation } = lookupInput.parse(args);
  const row = await world.ledger.read(operation);
  if (!row || !sees(row)) throw new ToolFailure('not_found', `There is no operation ${operation}.`);
  const told = { operation, tool: row.tool };
  if (row.refusal) return { result: { ...told, state: 'failed', problem: { ...row.refusal.problem } } };
  if (ended === null) return { result: { ...told, state: row.state === 'awaiting_approval' ? 'awaiting_approval' : 'in_progress' } };
  // It waited for an approver, and was not let through.
  if (row.state === 'denied')
    return { result: { ...told, state: 'denied', problem: row.problem && { ...row.problem } }, found: { operation: ended, state: 'denied' } };
  const { row: now, effects, open } = await world.ledger.recover(ended, EVERY_DISPATCH);
  if (open) return { result: { ...told, state: 'unknown' } };
  if (now?.state === 'committed' || effects > 0) {
    return { result: { ...told, state: 'committed', result: now?.result ?? null }, found: { operation: ended, state: 'committed' } };
  }
  const problem = now?.problem ? { ...now.problem } : null;
  return { result: { ...told, state: 'failed', problem }, found: { operation: ended, state: 'failed' } };
}
