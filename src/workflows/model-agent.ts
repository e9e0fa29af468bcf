import { type ActivityInterfaceFor, ApplicationFailure, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { AttemptPlan, CallOutcome, CallRef, ConversationEnd, UserMove, UserRequest, UserTurn, WorldAttempt } from '../activities/contract.ts';
import type { ModelActivities, ModelMove, ModelPlan } from '../activities/model-contract.ts';
import { NOTHING_SPENT, overdrawn, spend, usedUp } from '../domain/model-budget.ts';
import type { Dialogue } from './dialogue.ts';
import type { Door } from './door.ts';
import { LOST_AFTER, modelQueue } from './messages.ts';

/** Beyond the agent's own time: what rate limits, a provider's trouble and queues may take before the conversation is given up as the harness's trouble. */
export const MODEL_GRACE_MS = 2 * 60 * 60_000;
/** Calls of one message that are under way at once. */
const AT_ONCE = 8;

/**
 * Plays an agent that is a model: asks it, carries out what it calls, until it has answered every message of the user or a budget ends it. All of its state is here
 * and in the store, so that it goes on where it was when a worker is lost.
 */
export async function playModel(
  door: Door,
  dialogue: Dialogue | null,
  plan: AttemptPlan & { readonly model: ModelPlan; readonly graceMs: number },
  at: WorldAttempt,
): Promise<ConversationEnd> {
  const { budget, turns } = plan.model;
  const startedAt = Date.now();
  let spent = NOTHING_SPENT;
  let usedMs = 0;
  let [turn, seq, proposed] = [1, 1, 0];
  let opens = true;
  let answers: readonly CallOutcome[] = [];
  for (let step = 1; ; step++) {
    const over = usedUp(budget, spent);
    if (over !== null) return exhausted(over);
    const limitMs = plan.budget.wallMs - usedMs;
    const graceMs = startedAt + plan.budget.wallMs + plan.graceMs - Date.now();
    if (graceMs <= 0) throw ApplicationFailure.nonRetryable('the conversation took too long for reasons that are not the agent’s', 'ConversationTooLong');
    const callsLeft = Math.max(0, door.budget - door.calls);
    const move: ModelMove =
      limitMs <= 0 ? { kind: 'out_of_time' } : await ask(graceMs, { ...at, step, turn, opens, seq, answers, calls: proposed, callsLeft, limitMs });
    if (move.kind === 'out_of_time') return timedOut(plan.budget.wallMs);
    if (move.kind === 'failed') return { ending: 'agent_error', problem: move.problem };
    spent = spend(spent, move.usage, move.price);
    usedMs += move.latencyMs;
    const beyond = overdrawn(budget, spent);
    if (beyond !== null) return exhausted(beyond);
    seq = move.seq;
    if (move.calls.length === 0) {
      const next: UserTurn = dialogue ? await dialogue.next() : turn < turns ? { kind: 'said', turn: turn + 1 } : { kind: 'left' };
      if (next.kind === 'over') return next.end;
      if (next.kind === 'left') return { ending: 'completed', problem: null };
      turn = next.turn;
      [opens, answers] = [true, []];
      continue;
    }
    proposed += move.calls.length;
    opens = false;
    answers = await carriedOut(door, move.calls);
    if (door.broken) throw door.broken;
    if (dialogue?.over) return dialogue.over;
    if (door.exhausted) return { ending: 'budget_exhausted', problem: answers.find(({ problem }) => problem?.code === 'budget_exhausted')?.problem ?? null };
  }
}

function ask(graceMs: number, request: Parameters<ModelActivities['callModel']>[0]): Promise<ModelMove> {
  return modelCalls(graceMs, `Model call ${request.step}`).callModel(request);
}

/** Lets a simulated user that is a model hear and answer. */
export function askUserModel(request: UserRequest): Promise<UserMove> {
  return modelCalls(MODEL_GRACE_MS, `The user's message ${request.turn}`).askUserModel(request);
}

/** `graceMs`: what a call may take, all its tries and waits included. */
function modelCalls(graceMs: number, summary: string): ActivityInterfaceFor<ModelActivities> {
  return proxyActivities<ModelActivities>({
    taskQueue: modelQueue(workflowInfo().taskQueue),
    // Waiting for a rate limit is part of it; a worker that is lost is seen by its heartbeats.
    startToCloseTimeout: graceMs,
    scheduleToCloseTimeout: graceMs,
    heartbeatTimeout: LOST_AFTER,
    // The activity itself knows its last try, and says for how long the provider wants to be left alone.
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary,
  });
}

/** The calls of one message are accepted in its order. */
async function carriedOut(door: Door, calls: readonly CallRef[]): Promise<readonly CallOutcome[]> {
  const outcomes: CallOutcome[] = [];
  for (let from = 0; from < calls.length; from += AT_ONCE) {
    outcomes.push(...(await Promise.all(calls.slice(from, from + AT_ONCE).map((call) => door.call(call)))));
    if (door.exhausted || door.broken) break;
  }
  return outcomes;
}

function exhausted(message: string): ConversationEnd {
  return { ending: 'budget_exhausted', problem: { code: 'budget_exhausted', message } };
}

function timedOut(wallMs: number): ConversationEnd {
  return { ending: 'agent_timeout', problem: { code: 'agent_timeout', message: `The agent used up its ${wallMs} ms.` } };
}
