import { ApplicationFailure } from '@temporalio/common';
import type { JsonObject } from '../../domain/json.ts';
import type { Message } from '../../domain/record.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { ToolSchema } from '../../environments/world.ts';
import type { Gateway, OpenSession } from '../../gateway/gateway.ts';
import type { ModelAccount } from '../../gateway/models/account.ts';
import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import { AgentClock } from '../agent-clock.ts';
import type { CarryCall } from '../carry-call.ts';
import type { AttemptRef, ConversationEnd } from '../contract.ts';
import type { UserSide } from '../user-side.ts';
import { answerOf } from './answer.ts';

const MAX_PROBLEM_LENGTH = 4_000;

export interface GatewayAgentOptions {
  readonly agent: { readonly name: string; readonly output: 'text' | 'json'; readonly parameters: JsonObject };
  readonly gateway: Gateway;
  readonly instructions: string;
  /** Tools that the case permits. */
  readonly tools: readonly ToolSchema[];
  readonly user: UserSide;
  readonly budget: { readonly calls: number; readonly wallMs: number };
  readonly signal: AbortSignal;
  readonly carry: CarryCall;
  /** Models that it may ask through the gateway, and what it tells of others. */
  readonly models: { readonly account: ModelAccount; readonly client: ModelClient };
  /** Which attempt it is. */
  readonly at: AttemptRef;
  /** Notes what came after the agent's end. */
  readonly late: (detail: string) => Promise<void>;
}

/** Has the agent take one turn: the way of its kind. @throws the harness's trouble, such as an agent that is not there. */
export type TakeTurn = (turn: Turn) => Promise<TurnEnd>;

export interface Turn {
  /** What the agent is told: the message, the instructions, its parameters, the conversation so far. */
  readonly document: JsonObject & { readonly turn: number };
  /** Where it acts; the token opens the door to this attempt. */
  readonly door: { readonly gateway: string; readonly mcp: string; readonly token: string; readonly models: OpenSession['models'] };
  /** Ends the turn. */
  readonly signal: AbortSignal;
  /** The agent's own time, which runs during the turn: to be held, and released as often, for what is ours. */
  readonly clock: Pick<AgentClock, 'hold' | 'release'>;
}

export type TurnEnd =
  | { readonly kind: 'answered'; readonly output: Buffer }
  | { readonly kind: 'failed'; readonly code: 'exited' | 'protocol' | 'refused'; readonly message: string }
  /** It took longer than its description allows. */
  | { readonly kind: 'timed_out'; readonly message: string }
  | { readonly kind: 'stopped' };

/**
 * Runs an agent that acts through the gateway: one turn for each message of the user, until it has answered all of them, fails, or is out of time or budget.
 * Whatever takes a turn has ended before this does. @throws the signal's reason, or what a call, the store or a turn threw: the harness's trouble.
 */
export async function runGatewayAgent(options: GatewayAgentOptions, take: TakeTurn): Promise<ConversationEnd> {
  const { agent, at, gateway, tools, budget, signal, carry, late, models } = options;
  const { promise: ended, resolve: finish, reject: fail } = Promise.withResolvers<ConversationEnd>();
  ended.catch(() => {});
  const stop = new AbortController();
  const clock = new AgentClock(budget.wallMs, () => finish(endingWith('agent_timeout', 'agent_timeout', `The agent used up its ${budget.wallMs} ms.`)));
  let exhausted: ConversationEnd | null = null;
  const place = { trial: at.trial, attempt: at.attempt, agent: agent.name };
  const session = await gateway.open(place, {
    tools,
    budget: budget.calls,
    carry,
    late,
    models,
    events: {
      busy: () => clock.hold(),
      idle: () => {
        clock.release();
        // Calls within the budget come to their end before the conversation does.
        if (exhausted) finish(exhausted);
      },
      exhausted: ({ code, message }) => {
        exhausted ??= endingWith('budget_exhausted', code, message);
      },
      failed: (error) => fail(error instanceof ModelError ? ApplicationFailure.nonRetryable(error.message, 'ModelSetup') : error),
    },
  });
  const abort = () => fail(signal.reason instanceof Error ? signal.reason : new Error('the conversation was cancelled'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const door = { gateway: gateway.url, mcp: `${gateway.url}/mcp`, token: session.token ?? '', models: session.models };
  models.account.hide('TRIALBED_TOKEN', door.token);
  const turns = takeTurns(options, { take, door, clock, idle: () => session.idle(), signal: stop.signal });
  try {
    const end = await Promise.race([ended, turns]);
    return session.beyondBudget > 0 ? { ...end, beyondBudget: session.beyondBudget } : end;
  } finally {
    signal.removeEventListener('abort', abort);
    clock.stop();
    await session.close();
    stop.abort();
    // Its processes and connections are gone before anybody hears of the end. What it still has to say changes nothing.
    await turns.catch(() => {});
    await session.settled();
  }
}

interface Means extends Pick<Turn, 'door' | 'signal'> {
  readonly take: TakeTurn;
  readonly clock: AgentClock;
  readonly idle: () => Promise<void>;
}

async function takeTurns({ agent, instructions, user }: GatewayAgentOptions, { take, door, clock, idle, signal }: Means): Promise<ConversationEnd> {
  for (let message = await user.next(); message !== null; message = await user.next()) {
    const { turn, text } = message;
    const messages = (await user.messages()).map(heard);
    clock.release();
    const end = await take({ document: { turn, text, instructions, parameters: agent.parameters, messages }, door, signal, clock });
    clock.hold();
    if (end.kind === 'failed') return endingWith('agent_error', end.code, end.message);
    if (end.kind === 'timed_out') return endingWith('agent_timeout', 'agent_timeout', end.message);
    // Whoever stopped it has said why.
    if (end.kind === 'stopped') return endingWith('agent_error', 'exited', 'The agent was stopped.');
    const answer = answerOf(end.output, agent.output);
    if (typeof answer === 'string') return endingWith('agent_error', 'protocol', answer);
    // Calls that the agent did not wait for are still carried out.
    await idle();
    if (signal.aborted) break;
    await user.tell(answer.text, answer.data);
    if (answer.end) break;
  }
  return { ending: 'completed', problem: null };
}

/** A message as an agent reads it. */
function heard({ turn, from, text, data, operation }: Message): JsonObject {
  return { turn, from, text, ...(data && { data }), ...(operation !== undefined && { operation }) };
}

function endingWith(ending: ConversationEnd['ending'], code: string, message: string): ConversationEnd {
  return { ending, problem: { code, message: printable(message, MAX_PROBLEM_LENGTH) } };
}
