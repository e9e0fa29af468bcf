import { type ActivityInterfaceFor, ApplicationFailure, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type {
  AttemptPlan,
  CallOutcome,
  CallRef,
  ConversationEnd,
  HandedOver,
  NOT_AS_RECORDED,
  UserMove,
  UserRequest,
  UserTurn,
  WorldAttempt,
} from '../activities/contract.ts';
import type { ModelActivities, ModelMove, ModelPlan, ModelStep } from '../activities/model-contract.ts';
import { type ModelBudget, overdrawn, spend, usedUp } from '../domain/model-budget.ts';
import type { Dialogue } from './dialogue.ts';
import type { Door } from './door.ts';
import { LOST_AFTER, modelQueue } from './messages.ts';
import { MODEL_GRACE_MS } from './lease-time.ts';
import { type ModelMember, ModelTalk, ModelUse } from './model-talk.ts';
import { tells } from './standing.ts';

/** Calls of one message that are under way at once. */
const AT_ONCE = 8;

/** As `NOT_AS_RECORDED` of the activities, which workflow code may import as types only. */
const NOT_RECORDED: typeof NOT_AS_RECORDED = 'not_as_recorded';

/**
 * Plays an agent that is a model, or such a member of a team in its part: asks it, carries out what it calls, until it has answered every message of the user, has handed
 * over, or a budget ends it. All of its state is here and in the store, so that it goes on where it was when a worker is lost.
 */
export async function playModel(
  door: Door,
  dialogue: Dialogue | null,
  plan: AttemptPlan & { readonly model: ModelPlan; readonly graceMs: number },
  at: WorldAttempt,
  member: ModelMember | null = null,
): Promise<ConversationEnd> {
  const { budget, turns } = plan.model;
  const { use, talk, part } = member ?? { use: new ModelUse(), talk: new ModelTalk(), part: null };
  tells('models', () => use.spent);
  const usedBefore = part?.usedMs ?? 0;
  let usedMs = 0;
  let [turn, heard, proposed] = [member?.turn ?? 1, Math.max(1, part?.heard ?? 1), part?.calls ?? 0];
  let opens: ModelStep['opens'] = part === null || part.by === null ? true : 'hand_over';
  const ended = (end: ConversationEnd): ConversationEnd => ({ ...end, usedMs });
  for (;;) {
    const over = budgetText(usedUp, budget, use, member);
    if (over !== null) return ended(exhausted(over));
    const limitMs = plan.budget.wallMs - usedBefore - usedMs;
    const graceMs = use.startedAt + plan.budget.wallMs + plan.graceMs - Date.now();
    if (graceMs <= 0) throw ApplicationFailure.nonRetryable('the conversation took too long for reasons that are not the agent’s', 'ConversationTooLong');
    const callsLeft = Math.max(0, door.budget - door.calls);
    const step = ++use.steps;
    const { seq, answers, shown } = talk;
    const request = { ...at, step, turn, opens, seq, answers, calls: proposed, callsLeft, limitMs, ...(part && { part, shown }) };
    const move: ModelMove = limitMs <= 0 ? { kind: 'out_of_time' } : await ask(graceMs, request);
    if (move.kind === 'out_of_time') return ended(timedOut(plan.budget.wallMs));
    if (move.kind === 'failed') return ended({ ending: move.problem.code === NOT_RECORDED ? 'cassette_miss' : 'agent_error', problem: move.problem });
    use.spent = spend(use.spent, move.usage, move.price);
    talk.spent = spend(talk.spent, move.usage, move.price);
    usedMs += move.latencyMs;
    const beyond = budgetText(overdrawn, budget, use, member);
    if (beyond !== null) return ended(exhausted(beyond));
    [talk.seq, talk.shown] = [move.seq, move.shown ?? 0];
    if (move.calls.length === 0) {
      const next: UserTurn = dialogue ? await dialogue.next() : heard < turns ? { kind: 'said', turn: heard + 1 } : { kind: 'left' };
      if (next.kind === 'over') return ended(next.end);
      if (next.kind === 'left') return ended({ ending: 'completed', problem: null });
      [turn, heard] = [next.turn, heard + 1];
      [opens, talk.answers] = [true, []];
      continue;
    }
    proposed += move.calls.length;
    opens = false;
    const outcomes = await carriedOut(door, move.calls);
    talk.answers = outcomes;
    if (door.broken) throw door.broken;
    if (door.missed) return ended(door.missed);
    if (dialogue?.over) return ended(dialogue.over);
    if (door.exhausted)
      return ended({ ending: 'budget_exhausted', problem: outcomes.find(({ problem }) => problem?.code === 'budget_exhausted')?.problem ?? null });
    const handed = handedOver(move.calls, outcomes);
    if (handed) return ended({ ending: 'completed', problem: null, handOver: { ...handed, turn, heard } });
  }
}

/** The first call of a message by which the conversation was handed over. */
function handedOver(calls: readonly CallRef[], outcomes: readonly CallOutcome[]): Pick<HandedOver, 'operation' | 'to'> | undefined {
  return outcomes.flatMap(({ operation, state }, index) => {
    const to = calls[index]?.handsTo;
    return to !== undefined && state === 'committed' ? [{ operation, to }] : [];
  })[0];
}

/** What the trial's models have used against its budget; then, of a team, what this member has used against its own. */
function budgetText(over: typeof usedUp, budget: ModelBudget, use: ModelUse, member: ModelMember | null): string | null {
  const shared = over(budget, use.spent);
  if (shared !== null || member === null) return shared;
  const own = over(member.own, member.talk.spent);
  return own && `${member.part.member}: ${own}`;
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
