import { ApplicationFailure } from '@temporalio/common';
import type { AgentSpec } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { ToolSchema } from '../../environments/world.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { AgentClock } from '../agent-clock.ts';
import type { CarryCall } from '../carry-call.ts';
import type { ConversationEnd } from '../contract.ts';
import { type Answer, answerOf, MAX_ANSWER_BYTES } from './answer.ts';
import { findProgram } from './find-program.ts';
import { runProgram } from './program.ts';

const MAX_PROBLEM_LENGTH = 4_000;

export interface CommandAgentOptions {
  readonly agent: Extract<AgentSpec, { kind: 'command' }>;
  /** Variables of its environment, beside those of the gateway. */
  readonly env: { readonly [name: string]: string };
  readonly gateway: Gateway;
  readonly instructions: string;
  /** Tools that the case permits. */
  readonly tools: readonly ToolSchema[];
  /** The user's messages, in order. */
  readonly turns: readonly string[];
  readonly budget: { readonly calls: number; readonly wallMs: number };
  readonly signal: AbortSignal;
  readonly carry: CarryCall;
  /** Notes what came after the agent's end. */
  readonly late: (detail: string) => Promise<void>;
  /** Stores what was said, before the other side hears it. */
  readonly said: (turn: number, from: 'user' | 'agent', text: string, data: JsonObject | null) => Promise<void>;
}

/**
 * Runs a command agent: its program once for each message of the user, with the conversation so far on its standard input, until it has answered all of them,
 * fails, or is out of time or budget. @throws the signal's reason, or what a call or the store threw: the harness's trouble.
 */
export async function runCommandAgent(options: CommandAgentOptions): Promise<ConversationEnd> {
  const { gateway, tools, budget, signal, carry, late } = options;
  const { promise: ended, resolve: finish, reject: fail } = Promise.withResolvers<ConversationEnd>();
  ended.catch(() => {});
  const stop = new AbortController();
  const clock = new AgentClock(budget.wallMs, () => finish(endingWith('agent_timeout', 'agent_timeout', `The agent used up its ${budget.wallMs} ms.`)));
  let exhausted: ConversationEnd | null = null;
  const session = gateway.open({
    tools,
    budget: budget.calls,
    carry,
    late,
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
      failed: fail,
    },
  });
  const abort = () => fail(signal.reason instanceof Error ? signal.reason : new Error('the conversation was cancelled'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const access = { TRIALBED_GATEWAY: gateway.url, TRIALBED_MCP: `${gateway.url}/mcp`, TRIALBED_TOKEN: session.token };
  const turns = takeTurns(options, { access, clock, idle: () => session.idle(), signal: stop.signal });
  try {
    return await Promise.race([ended, turns]);
  } finally {
    signal.removeEventListener('abort', abort);
    clock.stop();
    session.close();
    stop.abort();
    // Its processes are gone before anybody hears of the end. What it still has to say changes nothing.
    await turns.catch(() => {});
  }
}

interface Means {
  readonly access: { readonly [name: string]: string };
  readonly clock: AgentClock;
  readonly idle: () => Promise<void>;
  readonly signal: AbortSignal;
}

async function takeTurns({ agent, env, instructions, turns, said }: CommandAgentOptions, { access, clock, idle, signal }: Means): Promise<ConversationEnd> {
  const file = await findProgram(agent.program, agent.folder, env['PATH'] ?? '');
  if (file === null) {
    const where = agent.program.includes('/') ? agent.folder : 'PATH';
    throw ApplicationFailure.nonRetryable(
      `there is no program ${agent.program} in ${where} of the machine whose worker runs agent ${agent.name}`,
      'AgentProgramMissing',
    );
  }
  const messages: object[] = [];
  for (const [index, text] of turns.entries()) {
    const turn = index + 1;
    await said(turn, 'user', text, null);
    messages.push({ turn, from: 'user', text });
    const stdin = `${JSON.stringify({ turn, text, instructions, parameters: agent.parameters, messages })}\n`;
    clock.release();
    const end = await runProgram({ file, args: agent.args, folder: agent.folder, env: { ...env, ...access }, stdin, maxOutputBytes: MAX_ANSWER_BYTES, signal });
    clock.hold();
    if (end.kind === 'failed') return endingWith('agent_error', end.code, end.message);
    // Whoever stopped it has said why.
    if (end.kind === 'stopped') return endingWith('agent_error', 'exited', 'The agent was stopped.');
    const answer = answerOf(end.output, agent.output);
    if (typeof answer === 'string') return endingWith('agent_error', 'protocol', answer);
    // Calls that the program did not wait for are still carried out.
    await idle();
    if (signal.aborted) break;
    await say(answer, turn);
  }
  return { ending: 'completed', problem: null };

  async function say({ text, data }: Answer, turn: number): Promise<void> {
    await said(turn, 'agent', text, data);
    messages.push({ turn, from: 'agent', text, ...(data && { data }) });
  }
}

function endingWith(ending: ConversationEnd['ending'], code: string, message: string): ConversationEnd {
  return { ending, problem: { code, message: printable(message, MAX_PROBLEM_LENGTH) } };
}
