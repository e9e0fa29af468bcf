import { ApplicationFailure } from '@temporalio/common';
import type { ModelCall } from '../../domain/model.ts';
import { unmeasured } from '../../domain/model-budget.ts';
import type { World } from '../../environments/world.ts';
import type { Store } from '../../store/store.ts';
import { permittedTools } from '../check-call.ts';
import { answerOf } from '../gateway-agent/answer.ts';
import type { ModelMove, ModelStep } from '../model-contract.ts';
import type { TrialContext } from '../trial-context.ts';
import { askModel, type CallModelServices } from './ask-model.ts';
import { kept } from './keep.ts';
import { budgetOf, type ModelAgent } from './model-plan.ts';
import type { Part } from '../member-part.ts';
import { handedOver, messagesOf } from './messages.ts';
import { proposeCalls } from './propose.ts';
import { recordedReply } from './recorded-reply.ts';
import { replayedReply } from './replayed-reply.ts';
import { writtenMessage } from '../user-side.ts';

/** Who of a trial's agents is asked: its only one, or a member of a team in its part. */
export interface Speaker {
  readonly agent: ModelAgent;
  readonly part: Part | null;
}

/**
 * One call of an agent's model: what came since the call before is added to the conversation, the model is asked, its reply is stored with what it cost, and the
 * calls of tools in it are checked and written to the ledger. Each of these is done once, however often a lost worker makes it be tried.
 *
 * @throws {ApplicationFailure} that is retried where the provider is in trouble; `ModelSetup` where no try can help.
 */
export async function callModel(services: CallModelServices, context: TrialContext, speaker: Speaker, world: World, step: ModelStep): Promise<ModelMove> {
  const { store, keeper, failpoint } = services;
  const { agent, part } = speaker;
  const { trial, attempt } = step;
  const id = `agent-${step.step}`;
  const side = { who: 'agent', agent: part?.member.name ?? null } as const;
  const live = await store.liveConversation(trial, attempt, side);
  const before = live.slice(0, step.seq - 1);
  const said = step.opens ? await opened(store, context, part, step) : null;
  const added = await messagesOf(context, agent, world, { ...step, said, permission: part?.permission }, before);
  const at = step.seq + added.length;
  let reply = live[at - 1];
  let call = (await store.modelCalls(trial, attempt)).find((known) => known.id === id);
  if (reply?.role !== 'assistant' || call === undefined) {
    await store.addConversation(
      trial,
      attempt,
      added.map((message, index) => kept(keeper, { ...side, seq: step.seq + index, call: id }, message)),
    );
    const messages = [...before, ...added];
    const tools = part?.tools(context) ?? permittedTools(context.environment, context.kase.permission);
    const recorded =
      (await recordedReply(store, context, step, { ...side, seq: at })) ??
      (await replayedReply(context, agent, world, { id, messages, tools, at: services.now().toISOString() }));
    if (recorded && 'problem' in recorded) return { kind: 'failed', problem: recorded.problem };
    if (recorded) {
      ({ reply, call } = recorded);
      // Paid for and counted where it was given.
      await store.addConversation(trial, attempt, [kept(keeper, { ...side, seq: at, call: id }, reply)]);
    } else {
      const { limitMs } = step;
      const asked = await askModel(services, agent.route, { trial, attempt, id, ...side, messages, tools, limitMs });
      if (asked.kind === 'refused') return asked.problem.code === 'out_of_time' ? { kind: 'out_of_time' } : { kind: 'failed', problem: asked.problem };
      ({ reply, call } = asked);
      await store.addModelCall(trial, attempt, call, [kept(keeper, { ...side, seq: at, call: id }, reply)]);
      failpoint('model_replied_before_reported');
    }
  }
  requireMeasured(context, agent, call);
  const messages = await store.messages(trial, attempt);
  const usage = { usage: call.usage, price: call.price, latencyMs: call.latencyMs ?? 0, ...(part && { shown: messages.length }) };
  if (reply.calls.length > 0) {
    return { kind: 'replied', calls: await proposeCalls(context, world, reply.calls, step, part?.actor ?? null), seq: at + 1, ...usage };
  }
  const answer = answerOf(Buffer.from(reply.text ?? ''), agent.output);
  if (typeof answer === 'string') return { kind: 'failed', problem: { code: 'protocol', message: answer } };
  // Answers to questions by a tool count as turns.
  const turn = messages.findLast(({ from }) => from === 'user')?.turn ?? step.turn;
  await store.addMessage(trial, attempt, { turn, from: 'agent', text: answer.text, data: answer.data, ...(part && { actor: part.member.name }) });
  return { kind: 'replied', calls: [], seq: at + 1, ...usage };
}

/**
 * What is to be answered: the user's message, of which one that the case holds is stored before the model hears it, while a simulated user's stands in the store; or the
 * words with which another member hands over.
 */
async function opened(store: Store, { kase }: TrialContext, part: Part | null, { trial, attempt, turn, opens, shown = 0 }: ModelStep): Promise<string> {
  const messages = await store.messages(trial, attempt);
  if (opens === 'hand_over' && part?.handedWith) return handedOver(part.handedWith, messages.slice(shown));
  const said = messages.find((message) => message.from === 'user' && message.turn === turn);
  if (said) return said.text;
  const text = kase.turns[turn - 1] ?? '';
  await store.addMessage(trial, attempt, writtenMessage(turn, text));
  return text;
}

/** @throws {ApplicationFailure} for a limit that cannot be kept. */
function requireMeasured({ kase }: TrialContext, agent: ModelAgent, { usage, price, route }: ModelCall): void {
  const missing = unmeasured(budgetOf(kase, agent), usage, price);
  if (missing === 'tokens')
    throw ApplicationFailure.nonRetryable(
      `${route} reports no tokens, so a budget of tokens or money cannot be kept; take it from case and agent`,
      'ModelSetup',
    );
  if (missing === 'prices')
    throw ApplicationFailure.nonRetryable(`route ${route} has no prices in the currency of a budget, which cannot be kept; give it "prices"`, 'ModelSetup');
}
