import { ApplicationFailure } from '@temporalio/common';
import type { JsonObject } from '../../domain/json.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { ToolSchema } from '../../environments/world.ts';
import type { Gateway, OpenSession } from '../../gateway/gateway.ts';
import type { ModelAccount } from '../../gateway/models/account.ts';
import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import type { SessionOptions } from '../../gateway/session.ts';
import type { OpenTurn } from '../../store/store.ts';
import { AgentClock } from '../agent-clock.ts';
import type { AwaitDecision } from '../await-decision.ts';
import type { CarryCall } from '../carry-call.ts';
import type { AttemptRef, ConversationEnd } from '../contract.ts';
import type { UserSide } from '../user-side.ts';
import { isShutdown } from '../failures.ts';
import { heardMessage } from '../heard-message.ts';
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
  readonly decided: AwaitDecision;
  /** Which attempt it is. */
  readonly at: AttemptRef;
  /** Absent: it ends with its worker. */
  readonly lasting?: Lasting;
  /** Notes what came after the agent's end. */
  readonly late: (detail: string) => Promise<void>;
}

/** How a conversation outlives its worker, where the agent's kind allows it. */
export interface Lasting {
  /** What an earlier worker left; null: this one begins. */
  readonly left: { readonly status: string; readonly before: NonNullable<SessionOptions['before']> } | null;
  /** The turn is open, and another worker could ask for its answer; null: it is not any more. */
  readonly note: (turn: OpenTurn | null) => Promise<void>;
}

/** Has the agent take one turn: the way of its kind. @throws the harness's trouble, such as an agent that is not there. */
export type TakeTurn = (turn: Turn) => Promise<TurnEnd>;

export interface Turn {
  /** What the agent is told: the message, the instructions, its parameters, the conversation so far. */
  readonly document: JsonObject & { readonly turn: number };
  /** Where it acts; the token opens the door to this attempt. */
  readonly door: { readonly gateway: string; readonly mcp: string; readonly token: string; readonly models: OpenSession['models'] };
  /** Where the answer is to be asked for: an earlier worker had the agent begin. Else null. */
  readonly resume: string | null;
  /** The agent works on, and its answer is asked for there; another worker could do that. */
  readonly open: (status: string) => Promise<void>;
  /** Ends the turn; with the reason {@link HANDED_OVER} the agent works on for another worker. */
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
  const { agent, at, gateway, tools, budget, signal, carry, decided, late, models } = options;
  const { promise: ended, resolve: finish, reject: fail } = Promise.withResolvers<ConversationEnd>();
  ended.catch(() => {});
  const stop = new AbortController();
  const clock = new AgentClock(budget.wallMs, () => finish(endingWith('agent_timeout', 'agent_timeout', `The agent used up its ${budget.wallMs} ms.`)));
  let exhausted: ConversationEnd | null = null;
  const place = { trial: at.trial, attempt: at.attempt, agent: agent.name };
  const { lasting } = options;
  const session = await gateway.open(place, {
    ...(lasting?.left && { resume: true, before: lasting.left.before }),
    tools,
    budget: budget.calls,
    async carry(...call) {
      const result = await carry(...call);
      if (result.state === 'awaiting_approval') clock.holdWhile(decided(result.operation));
      return result;
    },
    late,
    models,
    events: {
      busy: () => clock.hold(),
      mark: () => clock.mark(),
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
  const door = async () => {
    const token = await session.token();
    models.account.hide('TRIALBED_TOKEN', token);
    return { gateway: gateway.url, mcp: `${gateway.url}/mcp`, token, models: session.models };
  };
  let open = lasting?.left != null;
  const note = async (turn: OpenTurn | null) => {
    if (open || turn) await lasting?.note(turn);
    open = lasting !== undefined && turn !== null;
  };
  const turns = takeTurns(options, { take, door, clock, note, idle: () => session.idle(), signal: stop.signal });
  let over = false;
  try {
    const end = { ...(await Promise.race([ended, turns])), usedMs: clock.used };
    over = true;
    return session.beyondBudget > 0 ? { ...end, beyondBudget: session.beyondBudget } : end;
  } finally {
    signal.removeEventListener('abort', abort);
    clock.stop();
    const handsOver = open && !over && (!signal.aborted || isShutdown(signal));
    if (handsOver) session.handOver();
    else await session.close();
    stop.abort(handsOver ? HANDED_OVER : undefined);
    // Its processes and connections are gone before anybody hears of the end. What it still has to say changes nothing.
    await turns.catch(() => {});
    await session.settled();
  }
}

/** Why a turn's signal was raised where the agent is to go on. */
export const HANDED_OVER = new Error('the conversation goes on with another worker');

interface Means extends Pick<Turn, 'signal'> {
  readonly take: TakeTurn;
  readonly door: () => Promise<Turn['door']>;
  readonly note: Lasting['note'];
  readonly clock: AgentClock;
  readonly idle: () => Promise<void>;
}

async function takeTurns(
  { agent, instructions, user, lasting }: GatewayAgentOptions,
  { take, door, clock, note, idle, signal }: Means,
): Promise<ConversationEnd> {
  let resume = lasting?.left?.status ?? null;
  for (let message = resume === null ? await user.next() : await user.again(); message !== null; message = await user.next()) {
    const { turn, text, from } = message;
    const messages = (await user.messages()).map(heardMessage);
    const document = { turn, text, ...(from !== undefined && { from }), instructions, parameters: agent.parameters, messages };
    // An agent that is only asked for its answer has its token.
    const at = resume === null ? await door() : NO_DOOR;
    clock.release();
    const end = await take({ document, door: at, resume, open: (status) => note({ asked: user.asked, status }), signal, clock });
    clock.hold();
    resume = null;
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
    await note(null);
    if (answer.end) break;
  }
  return { ending: 'completed', problem: null };
}

const NO_DOOR = { gateway: '', mcp: '', token: '', models: {} };

function endingWith(ending: ConversationEnd['ending'], code: string, message: string): ConversationEnd {
  return { ending, problem: { code, message: printable(message, MAX_PROBLEM_LENGTH) } };
}
