import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { AttemptPlan, ConversationEnd, NOT_AS_RECORDED, TrialActivities, UserMove, UserRequest, WorldAttempt } from '../activities/contract.ts';
import type { Dialogue } from './dialogue.ts';
import type { Door } from './door.ts';
import { approvalMs, CONVERSATION_GRACE_MS, graceMs } from './lease-time.ts';
import { conversationQueue, LOST_AFTER } from './messages.ts';
import { askUserModel, playModel } from './model-agent.ts';
import { PATIENT } from './patience.ts';
import { ScriptAgent } from './script-agent.ts';
import { playTeam, type TeamEnd } from './team.ts';

const short = proxyLocalActivities<TrialActivities>(PATIENT);

/** Lets the simulated user hear and answer. */
export function answerUser({ user }: AttemptPlan, request: UserRequest): Promise<UserMove> {
  return user === 'model' ? askUserModel(request) : short.answerUser(request);
}

/** Lets an agent that is no script act until it ends. `stage`: whether whoever acts lives outside of the workflow, and gives up waiting. */
export function act(
  door: Door,
  dialogue: Dialogue | null,
  plan: AttemptPlan,
  at: WorldAttempt,
  stage: { outside: boolean },
): Promise<ConversationEnd & Partial<TeamEnd>> {
  const { model, members = {} } = plan;
  if (plan.start !== undefined)
    return playTeam(door, plan.start, (part, team) => {
      const played = members[part.member];
      stage.outside = played === undefined;
      if (model && played?.kind === 'model') {
        const member = { part, talk: team.of(part.member), use: team.use, own: played.own, turn: team.turn };
        return playModel(door, dialogue, { ...plan, model, graceMs: graceMs(plan) }, at, member);
      }
      return played ? new ScriptAgent(at, { member: { part, turn: team.turn } }).play(door, dialogue) : converse(plan, { ...at, part });
    });
  if (model) return playModel(door, dialogue, { ...plan, model, graceMs: graceMs(plan) }, at);
  return converse(plan, at);
}

async function converse(plan: AttemptPlan, at: Parameters<TrialActivities['converse']>[0]): Promise<ConversationEnd> {
  const longest = plan.budget.wallMs + CONVERSATION_GRACE_MS + approvalMs(plan);
  // An agent on a server of its own goes on without us, and another worker asks it for its answer. All tries together lie inside the lease.
  const lasts = plan.agent === 'http' && ({ scheduleToCloseTimeout: longest, heartbeatTimeout: LOST_AFTER, retry: { maximumAttempts: 5 } } as const);
  const { converse: run } = proxyActivities<TrialActivities>({
    taskQueue: conversationQueue(workflowInfo().taskQueue),
    startToCloseTimeout: longest,
    heartbeatTimeout: LOST_AFTER,
    // The agent's process cannot be resumed: lost with its worker, the attempt ends and the next starts in a new world.
    retry: { maximumAttempts: 1 },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: at.part ? `${at.part.member} acts` : 'The agent acts',
    ...lasts,
  });
  return run(at);
}

/** An agent that has ended before it made all calls that are recorded: its world is one that it did not make. */
export function missedBy(calls: number, recorded: number): ConversationEnd | null {
  if (calls >= recorded) return null;
  const message = `The agent ended after ${calls} calls, and goes on from a world in which it had made ${recorded}.`;
  return { ending: 'cassette_miss', problem: { code: NOT_RECORDED, message } };
}

const NOT_RECORDED: typeof NOT_AS_RECORDED = 'not_as_recorded';
