import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ChatMessage } from '../../domain/chat.ts';
import { type ModelCall, priceOf } from '../../domain/model.ts';
import { needsMoney, needsTokens } from '../../domain/model-budget.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { World } from '../../environments/world.ts';
import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import type { Store } from '../../store/store.ts';
import { MAX_PROBLEM_LENGTH, permittedTools } from '../check-call.ts';
import { answerOf } from '../gateway-agent/answer.ts';
import type { ModelMove, ModelStep } from '../model-contract.ts';
import type { TrialContext } from '../trial-context.ts';
import { type Keeper, kept } from './keep.ts';
import { budgetOf, type ModelAgent } from './model-plan.ts';
import { messagesOf } from './messages.ts';
import { proposeCalls } from './propose.ts';
import { writtenMessage } from '../user-side.ts';

export interface CallModelServices {
  readonly store: Store;
  readonly models: ModelClient;
  readonly keeper: Keeper;
  readonly now: () => Date;
  readonly failpoint: (name: string) => void;
}

const SIDE = { who: 'agent', agent: null } as const;
const HEARTBEAT_MS = 2_000;

/**
 * One call of an agent's model: what came since the call before is added to the conversation, the model is asked, its reply is stored with what it cost, and the
 * calls of tools in it are checked and written to the ledger. Each of these is done once, however often a lost worker makes it be tried.
 *
 * @throws {ApplicationFailure} that is retried where the provider is in trouble; `ModelSetup` where no try can help.
 */
export async function callModel(services: CallModelServices, context: TrialContext, agent: ModelAgent, world: World, step: ModelStep): Promise<ModelMove> {
  const { store, keeper, failpoint } = services;
  const { trial, attempt } = step;
  const id = `agent-${step.step}`;
  const live = await store.liveConversation(trial, attempt, SIDE);
  const before = live.slice(0, step.seq - 1);
  const said = step.opens ? await opened(store, context, step) : null;
  const added = await messagesOf(context, agent, world, { ...step, said }, before);
  const at = step.seq + added.length;
  let reply = live[at - 1];
  let call = (await store.modelCalls(trial, attempt)).find((known) => known.id === id);
  if (reply?.role !== 'assistant' || call === undefined) {
    await store.addConversation(
      trial,
      attempt,
      added.map((message, index) => kept(keeper, { ...SIDE, seq: step.seq + index, call: id }, message)),
    );
    const asked = await ask(services, context, agent, step, { id, messages: [...before, ...added] });
    if (asked.kind !== 'replied') return asked.move;
    ({ reply, call } = asked);
    await store.addModelCall(trial, attempt, call, [kept(keeper, { ...SIDE, seq: at, call: id }, reply)]);
    failpoint('model_replied_before_reported');
  }
  requireMeasured(context, agent, call);
  const usage = { usage: call.usage, price: call.price, latencyMs: call.latencyMs ?? 0 };
  if (reply.calls.length > 0) {
    return { kind: 'replied', calls: await proposeCalls(context, world, reply.calls, step), seq: at + 1, ...usage };
  }
  const answer = answerOf(Buffer.from(reply.text ?? ''), agent.output);
  if (typeof answer === 'string') return { kind: 'failed', problem: { code: 'protocol', message: answer } };
  // Answers to questions by a tool count as turns.
  const turn = (await store.messages(trial, attempt)).findLast(({ from }) => from === 'user')?.turn ?? step.turn;
  await store.addMessage(trial, attempt, { turn, from: 'agent', text: answer.text, data: answer.data });
  return { kind: 'replied', calls: [], seq: at + 1, ...usage };
}

/** The user's message that is to be answered: one that the case holds is stored before the model hears it; a simulated user's stands in the store. */
async function opened(store: Store, { kase }: TrialContext, { trial, attempt, turn }: ModelStep): Promise<string> {
  const said = (await store.messages(trial, attempt)).find((message) => message.from === 'user' && message.turn === turn);
  if (said) return said.text;
  const text = kase.turns[turn - 1] ?? '';
  await store.addMessage(trial, attempt, writtenMessage(turn, text));
  return text;
}

type Asked =
  | { readonly kind: 'replied'; readonly reply: Extract<ChatMessage, { role: 'assistant' }>; readonly call: ModelCall }
  | { readonly kind: 'ended'; readonly move: ModelMove };

async function ask(
  { models, store, now }: CallModelServices,
  { environment, kase }: TrialContext,
  { route }: ModelAgent,
  { trial, attempt, limitMs }: ModelStep,
  { id, messages }: { readonly id: string; readonly messages: readonly ChatMessage[] },
): Promise<Asked> {
  const tries = activityInfo().attempt;
  const about: Omit<ModelCall, 'reported' | 'usage' | 'price' | 'latencyMs' | 'end' | 'problem' | 'at'> = {
    ...{ id, ...SIDE, source: 'loop' as const, route: route.name, url: route.url, model: route.model, parameters: route.parameters, seed: route.seed, tries },
  };
  const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
  try {
    const tools = permittedTools(environment, kase.permission);
    const { text, calls, reported, usage, latencyMs } = await models.ask(route, { messages, tools }, { signal: cancellationSignal(), limitMs });
    const price = priceOf(usage, route.prices);
    const call: ModelCall = { ...about, reported, usage, price, latencyMs, end: 'replied', problem: null, at: now().toISOString() };
    return { kind: 'replied', reply: { role: 'assistant', text, calls }, call };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const last = error.kind !== 'passing' || tries > route.retries;
    const problem = { code: error.code, message: printable(error.message, MAX_PROBLEM_LENGTH) };
    if (last) {
      const end = error.kind === 'refused' ? 'refused' : 'failed';
      await store.addModelCall(trial, attempt, { ...about, reported: null, usage: null, price: null, latencyMs: null, end, problem, at: now().toISOString() });
    }
    if (error.kind === 'refused') return { kind: 'ended', move: error.code === 'out_of_time' ? { kind: 'out_of_time' } : { kind: 'failed', problem } };
    throw failureOf(error, problem.message, last);
  } finally {
    clearInterval(beat);
  }
}

/** Trouble of a provider or of its setup is never the agent's. */
function failureOf({ kind, retryAfterMs }: ModelError, message: string, last: boolean): ApplicationFailure {
  const type = kind === 'setup' ? 'ModelSetup' : 'ModelUnavailable';
  return ApplicationFailure.create({ message, type, nonRetryable: last, ...(retryAfterMs !== null && { nextRetryDelay: retryAfterMs }) });
}

/** A limit on what nobody measures would never be met. */
function requireMeasured({ kase }: TrialContext, agent: ModelAgent, { usage, price, route }: ModelCall): void {
  const budget = budgetOf(kase, agent);
  if (usage === null && (needsTokens(budget) || needsMoney(budget)))
    throw ApplicationFailure.nonRetryable(
      `${route} reports no tokens, so a budget of tokens or money cannot be kept; take it from case and agent`,
      'ModelSetup',
    );
  if (price === null && needsMoney(budget))
    throw ApplicationFailure.nonRetryable(`route ${route} has no prices, so a budget of money cannot be kept; give it "prices"`, 'ModelSetup');
}
