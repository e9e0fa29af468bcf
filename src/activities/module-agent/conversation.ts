import type { Duplex } from 'node:stream';
import type { Json, JsonObject } from '../../domain/json.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { AgentServices, CallResult } from '../../environments/agent.ts';
import type { ToolSchema } from '../../environments/world.ts';
import { AgentClock } from '../agent-clock.ts';
import type { AwaitDecision } from '../await-decision.ts';
import type { ConversationEnd } from '../contract.ts';
import type { UserSide } from '../user-side.ts';
import { Channel } from './channel.ts';
import { type ChildMessage, childMessage } from './protocol.ts';

/** How long the process's exit may come after its channel closed, and the rest of what it sent after its exit. */
const PARTING_MS = 2_000;
/** A process that says nothing for so long after its start was never started properly: the harness's trouble. */
const START_MS = 60_000;
const MAX_CALLS_IN_FLIGHT = 8;
/** Requests that wait here; more stay in the agent's process until these are served. */
const MAX_WAITING = 32;
/** Times that an agent may ask for the next message or answer. Neither costs it time or budget, so something has to end a loop of them. A conversation has 1,000 turns at most. */
const MAX_EXCHANGES = 3_000;
const MAX_PROBLEM_LENGTH = 4_000;

export interface ConversationOptions {
  readonly file: string;
  readonly parameters: JsonObject;
  readonly services: AgentServices;
  readonly instructions: string;
  readonly tools: readonly ToolSchema[];
  readonly user: UserSide;
  /** The agent's own time: what it spends while no call of its own is in flight. */
  readonly wallMs: number;
  /** Is given that clock, for what it waits for beside its calls. */
  readonly clock?: (clock: Pick<AgentClock, 'hold' | 'release' | 'mark'>) => void;
  readonly signal: AbortSignal;
  readonly call: (tool: string, args: unknown, idempotencyKey: string | null) => Promise<CallResult>;
  readonly decided: AwaitDecision;
}

type Request = Extract<ChildMessage, { readonly n: number }>;

/** One conversation with an agent's process, which is trusted in nothing: not to keep to the protocol, to end, or to read what it is sent. */
export class Conversation {
  private readonly options: ConversationOptions;
  private readonly channel: Channel;
  private readonly ended: Promise<ConversationEnd | Error>;
  private settle: (end: ConversationEnd | Error) => void = () => {};
  private readonly queue: Request[] = [];
  private inFlight = 0;
  /** The agent has answered the last message that it received. */
  private replied = true;
  private exchanges = 0;
  private started = false;
  private leaving = false;
  private over = false;
  /** Runs only while the agent has nothing to wait for from us. */
  private readonly clock: AgentClock;
  private readonly starting: NodeJS.Timeout;
  private parting: NodeJS.Timeout | undefined;
  private channelEnded = false;
  private exit: (() => string) | null = null;

  constructor(stream: Duplex, options: ConversationOptions) {
    this.options = options;
    this.ended = new Promise((resolve) => {
      this.settle = resolve;
    });
    this.channel = new Channel(stream, {
      message: (raw) => this.onMessage(raw),
      malformed: (why) => this.finish('agent_error', 'protocol', `The agent sent what is no message of the protocol: ${why}.`),
      end: () => this.onChannelEnd(),
      drained: () => this.pump(),
    });
    this.starting = setTimeout(() => this.settle(new Error('the process of the agent did not start')), START_MS);
    this.clock = new AgentClock(options.wallMs, () => this.finish('agent_timeout', 'agent_timeout', `The agent used up its ${options.wallMs} ms.`));
    options.clock?.(this.clock);
  }

  /** Waits for the end. @throws the signal's reason, or what a call or the store threw: the harness's trouble. */
  async end(): Promise<ConversationEnd> {
    const { signal } = this.options;
    const abort = () => this.settle(signal.reason instanceof Error ? signal.reason : new Error('the conversation was cancelled'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      const end = await this.ended;
      if (end instanceof Error) throw end;
      return { ...end, usedMs: this.clock.used };
    } finally {
      this.over = true;
      signal.removeEventListener('abort', abort);
      clearTimeout(this.starting);
      this.clock.stop();
      clearTimeout(this.parting);
      this.channel.close();
    }
  }

  /** The process has ended: `how` says so in words, once everything that it sent has been read. */
  exited(how: () => string): void {
    this.exit = how;
    if (this.channelEnded) this.onGone();
    else this.parting ??= setTimeout(() => this.onGone(), PARTING_MS);
  }

  /** The process could not be started. */
  failed(error: Error): void {
    this.settle(error);
  }

  private onChannelEnd(): void {
    this.channelEnded = true;
    if (this.exit) this.onGone();
    else this.parting ??= setTimeout(() => this.onGone(), PARTING_MS);
  }

  private onGone(): void {
    if (this.leaving) return;
    if (this.exit) this.finish('agent_error', 'exited', this.exit());
    else this.finish('agent_error', 'protocol', 'The agent closed its channel before it was done.');
  }

  private onMessage(raw: unknown): void {
    // What comes after the last word is not heard.
    if (this.leaving || this.over) return;
    const message = this.parse(raw);
    if (!message) return;
    switch (message.type) {
      case 'ready':
        this.onReady();
        break;
      case 'done':
        // Calls that the agent did not wait for are still carried out and what it said is still stored.
        this.leaving = true;
        this.leaveWhenIdle();
        break;
      case 'error':
        this.finish('agent_error', 'threw', message.message);
        break;
      default:
        if (message.type !== 'call' && ++this.exchanges > MAX_EXCHANGES) {
          this.finish('agent_error', 'protocol', 'The agent asks for messages or answers without end.');
          break;
        }
        this.queue.push(message);
        this.pump();
    }
  }

  private parse(raw: unknown): ChildMessage | null {
    const refuse = (why: string) => this.finish('agent_error', 'protocol', `The agent sent a message that is not of the protocol: ${why}`);
    try {
      const parsed = childMessage.safeParse(raw);
      if (parsed.success) return parsed.data;
      refuse(parsed.error.issues[0]?.message ?? 'unknown');
    } catch {
      // Nested so deep that it cannot be looked at.
      refuse('it is too deep');
    }
    return null;
  }

  private onReady(): void {
    if (this.started) {
      this.finish('agent_error', 'protocol', 'The agent sent a message that is not of the protocol: it has started already.');
      return;
    }
    this.started = true;
    const { file, instructions, tools, parameters, services } = this.options;
    this.channel.send({ type: 'start', file, session: { instructions, tools, parameters, services } });
    // How long a process takes to start is ours; from here on it is the agent's.
    clearTimeout(this.starting);
    this.clock.release();
  }

  private pump(): void {
    while (!this.over && !this.channel.congested && this.inFlight < MAX_CALLS_IN_FLIGHT) {
      const next = this.queue.shift();
      if (!next) break;
      this.inFlight++;
      this.clock.hold();
      this.serve(next)
        .catch((error: unknown) => this.settle(error instanceof Error ? error : new Error(String(error))))
        .finally(() => {
          this.inFlight--;
          this.clock.release();
          this.pump();
          this.leaveWhenIdle();
        });
    }
    if (this.queue.length >= MAX_WAITING) this.channel.pause();
    else this.channel.resume();
  }

  private leaveWhenIdle(): void {
    if (this.leaving && this.inFlight === 0 && this.queue.length === 0) this.finish('completed');
  }

  private async serve(request: Request): Promise<void> {
    const { n } = request;
    if (request.type === 'call') {
      const result = await this.options.call(request.tool, request.args, request.idempotencyKey);
      if (result.state === 'awaiting_approval') this.clock.holdWhile(this.options.decided(result.operation));
      this.channel.send({ type: 'answer', n, value: result });
      // A tool may fail with a code of the same name; the door alone refuses.
      if (result.state === 'rejected' && result.problem?.code === 'budget_exhausted') {
        this.finish('budget_exhausted', result.problem.code, result.problem.message);
      }
      return;
    }
    if (request.type === 'receive') {
      if (!this.replied) return this.channel.send({ type: 'answer', n, value: null });
      this.replied = false;
      const message = await this.options.user.next();
      if (message === null) this.replied = true;
      return this.channel.send({ type: 'answer', n, value: message });
    }
    await this.options.user.tell(request.text, (request.data as { [key: string]: Json } | null) ?? null);
    this.replied = true;
    this.channel.send({ type: 'answer', n, value: null });
  }

  private finish(ending: ConversationEnd['ending'], code?: string, message?: string): void {
    this.settle({ ending, problem: code ? { code, message: printable(message ?? code, MAX_PROBLEM_LENGTH) } : null });
  }
}
