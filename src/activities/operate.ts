import { ApplicationFailure } from '@temporalio/common';
import type { Case } from '../domain/case.ts';
import type { DrawnRule } from '../domain/fault.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import { ToolFailure } from '../environments/define.ts';
import { runtimeOf } from '../environments/runtime-tools.ts';
import type { LedgerRow, LoadedEnvironment, World, WorldClock } from '../environments/world.ts';
import { boundOf } from './approvals.ts';
import { carryOut, problemOf } from './carry-out.ts';
import { accepted, standingRefusal, withKey } from './check-call.ts';
import type { OperateResult } from './contract.ts';
import { afterCall, beforeCall, bendOf, type HitCall, refuse, replyNeverComes } from './inject.ts';
import { foundIn, runRuntimeCall } from './runtime-calls.ts';
import { replayCall } from './replay-call.ts';
import type { ActivityServices } from './services.ts';

export interface OperateRequest {
  readonly world: World;
  readonly environment: LoadedEnvironment;
  readonly permission: Case['permission'];
  /** Of a team: what each member may. Absent where the agent is no team. */
  readonly members?: { readonly [member: string]: Case['permission'] };
  readonly operation: string;
  readonly tool: string;
  /** How-manieth dispatch of this operation; late writes of an earlier one are refused. */
  readonly dispatch: number;
  readonly signal: AbortSignal;
  /** The trial has a fault schedule. */
  readonly scheduled: boolean;
  /** Rules of the schedule, drawn; and the places of those that hit this call. */
  readonly rules: readonly DrawnRule[];
  readonly hits: readonly number[];
  readonly position: number | null;
  /** For a look-up: the operation that it asks for, where that has ended. */
  readonly ended: string | null;
  /** What the approval of this call is bound to; null: it needed none. */
  readonly approved: string | null;
  /** World time, where nothing has moved it since it was read. Absent: it is to be asked for. */
  readonly clock?: WorldClock;
}

/** A call of a trial without a fault schedule. */
export const WITHOUT_FAULTS = { scheduled: false, rules: [], hits: [], position: null, ended: null, approved: null } as const;

/**
 * Runs one proposed call as production would: with the tries that its client makes by itself, and with what the fault schedule does to it.
 *
 * @throws {ToolFailure} when the call is known to have had no effect. @throws {CompleteAsyncError} when the schedule lets it time out. Anything else that is thrown
 * leaves the outcome open.
 */
export async function operate(services: ActivityServices, asked: OperateRequest): Promise<Pick<OperateResult, 'found'>> {
  const { world, environment, operation, dispatch } = asked;
  const tool = environment.environment.tools.find((candidate) => candidate.name === asked.tool);
  const found = await world.ledger.readNow(operation);
  if (!tool || !found)
    throw ApplicationFailure.nonRetryable(`operation ${operation} (${asked.tool}) is not in the ledger of world ${world.ref.id}`, 'LedgerMissing');
  const { row, clock } = found;
  const member = (row.actor === undefined ? undefined : asked.members?.[row.actor]) ?? null;
  const request = { ...asked, permission: member ?? asked.permission };
  if (world.replay && !tool.builtin) {
    await replayCall({ world, environment, operation, dispatch, tool: tool.name, permission: asked.permission, member });
    return {};
  }
  const call = hitCall(request, { tool, idempotencyKey: row.idempotencyKey });
  // A dispatch that is repeated after its reply was lost must not act again.
  if (row.state === 'committed') {
    await afterCall(call);
    const lookedUp = tool.builtin === 'lookup' ? foundIn(row) : undefined;
    return lookedUp ? { found: lookedUp } : {};
  }
  // A server makes of its arguments what it likes, and of a key that is one of them.
  const args = tool.served ? withKey(tool, row.args, row.idempotencyKey) : accepted(tool).parse(row.args);
  const bound = boundOf(environment, row, request.approved);
  await beforeCall(call);
  let answer: Pick<OperateResult, 'found'> = {};
  await withTries(call, dispatch, async (attempt) => {
    await refuse(call, attempt);
    if (tool.builtin) {
      const sees = (other: LedgerRow) => row.actor === other.actor || maySee(request, other.tool);
      answer = await runRuntimeCall({ world, tool, operation, dispatch, args: row.args, ended: request.ended, sees });
    } else await carryOut(services, asked.scheduled || attempt > 1 ? request : { ...request, clock }, tool, args, { bend: await bendOf(call), bound });
  });
  services.failpoint('committed_before_reply');
  await afterCall(call);
  return answer;
}

/** Whether a member of a team is told of another's operation: of a tool that it may call itself. A permission of one is no permission of another. */
function maySee({ environment: { environment }, permission }: OperateRequest, tool: string): boolean {
  return standingRefusal(environment, permission, tool) === null;
}

/** A call with what the schedule does to it. */
export function hitCall(
  request: Pick<OperateRequest, 'world' | 'environment' | 'operation' | 'rules' | 'hits' | 'position'>,
  { tool, idempotencyKey }: Pick<HitCall, 'tool' | 'idempotencyKey'>,
): HitCall {
  const { world, environment, operation, rules, position } = request;
  const hits = rules.filter((rule) => request.hits.includes(rule.index));
  return { world, tool, operation, position, hits, rules, idempotencyKey, runtime: runtimeOf(environment.environment) };
}

/** The production client's own tries. Between two of them only the world's clock moves. */
async function withTries(call: HitCall, dispatch: number, attempt: (number: number) => Promise<void>): Promise<void> {
  const { world, operation, runtime } = call;
  const startedAt = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      await attempt(tries);
      if (tries > 1) await world.ledger.tried(operation, tries);
      return;
    } catch (error) {
      const pause = pauseBefore(runtime.retries, tries, error);
      if (pause === null) {
        if (tries > 1) await world.ledger.tried(operation, tries);
        if (error instanceof ToolFailure) {
          await world.ledger.settle(operation, dispatch, { state: 'failed', problem: problemOf(error), durationMs: performance.now() - startedAt });
          // Also a refusal comes too late to be told.
          if (replyNeverComes(call)) await afterCall(call);
        }
        throw error;
      }
      await world.faults.advance(`${operation} try ${tries}`, { seconds: pause });
    }
  }
}

/** Seconds that the production client waits before its next try; null: it makes none. */
function pauseBefore(retries: ProductionRuntime['retries'], tries: number, error: unknown): number | null {
  if (retries === null || tries > retries.attempts) return null;
  const { code, type, retryAfterSeconds, pauseSeconds = retryAfterSeconds } = error as { [field: string]: unknown };
  if (![code, type].some((name) => typeof name === 'string' && retries.on.includes(name))) return null;
  return retries.honoursRetryAfter && typeof pauseSeconds === 'number' ? pauseSeconds : retries.backoffSeconds;
}
