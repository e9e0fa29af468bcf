import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { AgentSpec } from '../../domain/agent.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { AgentServices } from '../../environments/agent.ts';
import { MAX_ANSWER_BYTES } from '../gateway-agent/answer.ts';
import { HANDED_OVER, type TakeTurn, type Turn, type TurnEnd } from '../gateway-agent/conversation.ts';
import { traceHeaders } from '../trace-headers.ts';
import { AgentServer, AnswerTimeoutError, type Reply, UnreachableError } from './exchange.ts';

type HttpAgent = Extract<AgentSpec, { kind: 'http' }>;

/** Waits before a request is tried again whose connection never stood, or that the server said to send again. */
const AGAIN_MS = [200, 600, 1_200] as const;
const LEAST_POLL_MS = 50;
/** How long the agent's server may take to hear that the trial has ended. */
const FAREWELL_MS = 2_000;
const MAX_QUOTED = 300;

export interface HttpTurnsOptions {
  readonly agent: HttpAgent;
  /** Of every request to it. */
  readonly headers: { readonly [name: string]: string };
  readonly services: AgentServices;
}

/**
 * Turns of an agent behind HTTP: each is posted to its address; the answer is the response, or is asked for at the address that the response names. A turn @throws
 * `AgentUnreachable` where the first start reaches no server.
 */
export function httpTurns(options: HttpTurnsOptions): TakeTurn {
  return async (turn) => {
    const { agent, headers } = options;
    const { connectMs, answerMs } = agent.timeouts;
    await using server = new AgentServer({
      headers: { ...traceHeaders(), ...headers },
      connectMs,
      answerMs,
      connecting: () => turn.clock.hold(),
      connected: () => turn.clock.release(),
    });
    const exchange = new Exchange(server, options, turn);
    try {
      return await exchange.run();
    } catch (error) {
      if (turn.signal.aborted) return { kind: 'stopped' };
      if (error instanceof AnswerTimeoutError) return { kind: 'timed_out', message: error.message };
      if (error instanceof ApplicationFailure) throw error;
      // It may have begun, so what it left in the world is its own doing.
      return { kind: 'failed', code: 'exited', message: `The agent's server is gone: ${error instanceof Error ? error.message : String(error)}` };
    } finally {
      await exchange.leave();
    }
  };
}

const accepted = z.object({ status: z.string() });

class Exchange {
  private readonly server: AgentServer;
  private readonly options: HttpTurnsOptions;
  private readonly turn: Turn;
  /** Where the answer is asked for, while it is owed. */
  private status: string | null = null;

  constructor(server: AgentServer, options: HttpTurnsOptions, turn: Turn) {
    this.server = server;
    this.options = options;
    this.turn = turn;
  }

  async run(): Promise<TurnEnd> {
    const { url } = this.options.agent;
    const { document, door, resume } = this.turn;
    this.status = resume;
    const body = JSON.stringify({ ...document, ...door, services: this.options.services });
    let reply = resume === null ? await this.patiently('POST', url, body) : await this.patiently('GET', resume);
    while (reply.status === 202) {
      const status = this.statusOf(reply);
      if (typeof status !== 'string') return status;
      if (status !== this.status) await this.turn.open(status);
      this.status = status;
      await sleep(Math.max(LEAST_POLL_MS, reply.retryAfterMs ?? this.options.agent.timeouts.pollMs), undefined, { signal: this.turn.signal });
      reply = await this.patiently('GET', status);
    }
    if (reply.body === null) return failed('protocol', `The agent answered more than ${MAX_ANSWER_BYTES} bytes.`);
    if (reply.status !== 200) return failed('refused', this.refusalOf(reply));
    this.status = null;
    return { kind: 'answered', output: reply.body };
  }

  /** Tells a server that is still at work that nobody waits for its answer any more. */
  async leave(): Promise<void> {
    if (this.status === null || this.turn.signal.reason === HANDED_OVER) return;
    await this.server.ask('DELETE', this.status, { signal: AbortSignal.timeout(FAREWELL_MS) }).catch(() => undefined);
  }

  /** A request that never got there is sent again, and so is one that the server puts off. Meanwhile the agent's time stands still. */
  private async patiently(method: 'GET' | 'POST', url: string, body?: string): Promise<Reply> {
    const { signal, clock, document } = this.turn;
    let why = '';
    for (const wait of [...AGAIN_MS, null]) {
      let waitMs: number | null = wait;
      try {
        const reply = await this.server.ask(method, url, { signal, ...(body !== undefined && { body }) });
        if (reply.status !== 503 && reply.status !== 429) return reply;
        why = `${new URL(url).host} answers ${reply.status}`;
        if (wait !== null) waitMs = Math.max(wait, reply.retryAfterMs ?? 0);
        else if (method === 'GET' || document.turn > 1) return reply;
      } catch (error) {
        if (!(error instanceof UnreachableError) || signal.aborted) throw error;
        why = error.message;
        if (wait === null && (method === 'GET' || document.turn > 1)) throw error;
      }
      if (waitMs === null) break;
      clock.hold();
      await sleep(waitMs, undefined, { signal }).finally(() => clock.release());
    }
    throw ApplicationFailure.nonRetryable(`the server of agent ${this.options.agent.name} took no start: ${this.quoted(why)}`, 'AgentUnreachable');
  }

  /** The address at which the answer is asked for: of the agent's own server, since its headers go there. */
  private statusOf({ location, body }: Reply): string | TurnEnd {
    const { url } = this.options.agent;
    const named = location ?? accepted.safeParse(parsed(body)).data?.status ?? this.status;
    const status = named === null ? null : URL.parse(named, url);
    if (status === null) return failed('protocol', 'The agent answered 202 and named no address for the answer, neither as Location nor as {"status": ...}.');
    if (status.origin === new URL(url).origin) return status.href;
    return failed('protocol', `The agent's answer is to be asked for at ${this.quoted(status.origin)}, which is not the agent's own server.`);
  }

  private refusalOf({ status, location, body }: Reply): string {
    if (status >= 300 && status < 400)
      return `The agent's server redirects (${status}) to ${this.quoted(location ?? 'nowhere')}; give the agent's file the right address, since nothing is sent elsewhere.`;
    const words = this.quoted(body?.toString('utf8').trim() ?? '');
    return `The agent's server answered with status ${status}.${words ? ` It said: ${words}` : ''}`;
  }

  /** Words of the server, without what we sent it. */
  private quoted(text: string): string {
    const secrets = [this.turn.door.token, ...Object.values(this.options.headers)].filter((secret) => secret.length > 0);
    return printable(
      secrets.reduce((words, secret) => words.replaceAll(secret, '[secret]'), text),
      MAX_QUOTED,
    );
  }
}

function failed(code: 'protocol' | 'refused', message: string): TurnEnd {
  return { kind: 'failed', code, message };
}

function parsed(body: Buffer | null): unknown {
  try {
    return JSON.parse(body?.toString('utf8') ?? '');
  } catch {
    return null;
  }
}
