import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { CallResult } from '../../environments/agent.ts';
import type { ToolSchema } from '../../environments/world.ts';
import type { ConversationEnd } from '../contract.ts';
import { type ChildMessage, childMessage, type HostMessage } from './protocol.ts';

/** How long a process may take to end after its last word, or after SIGTERM. */
const EXIT_GRACE_MS = 2_000;
/** What of the agent's own output is kept for the record of an error. */
const MAX_OUTPUT_BYTES = 16 * 1024;
const MAX_CALLS_IN_FLIGHT = 8;

export interface ModuleAgentOptions {
  readonly file: string;
  readonly parameters: JsonObject;
  /** Variables of the child's environment, and nothing else. */
  readonly env: { readonly [name: string]: string };
  readonly instructions: string;
  readonly tools: readonly ToolSchema[];
  /** The user's messages, in order. */
  readonly turns: readonly string[];
  /** The agent's own time: what it spends while no call of its own is in flight. */
  readonly wallMs: number;
  readonly signal: AbortSignal;
  readonly call: (tool: string, args: unknown, idempotencyKey: string | null) => Promise<CallResult>;
  /** Stores what was said, before the other side hears it. */
  readonly said: (turn: number, from: 'user' | 'agent', text: string, data: JsonObject | null) => Promise<void>;
}

/**
 * Runs a module agent in a process group of its own until the conversation is over, the agent's time is up, or the signal is raised; afterwards the
 * whole group is gone. Never throws for what the agent does.
 */
export async function runModuleAgent(options: ModuleAgentOptions): Promise<ConversationEnd> {
  const child = fork(childEntry(), [], {
    env: options.env,
    execArgv: [],
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
  });
  const output = collectOutput(child);
  const conversation = new Conversation(child, options);
  try {
    return await conversation.end(() => output.text());
  } finally {
    await endGroup(child);
  }
}

class Conversation {
  private readonly child: ChildProcess;
  private readonly options: ModuleAgentOptions;
  /** Messages that the user has sent. The first goes out with the first `receive`. */
  private turn = 0;
  private replied = true;
  private inFlight = 0;
  private leaving = false;
  private agentMs = 0;
  private runningSince: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private settle: (end: ConversationEnd | Error) => void = () => {};
  private readonly ended: Promise<ConversationEnd | Error>;
  private readonly queue: (() => Promise<void>)[] = [];

  constructor(child: ChildProcess, options: ModuleAgentOptions) {
    this.child = child;
    this.options = options;
    this.ended = new Promise((resolve) => {
      this.settle = resolve;
    });
    child.on('message', (raw) => this.onMessage(raw));
    child.on('error', (error) => this.finish('agent_error', 'start_failed', error.message));
    options.signal.addEventListener('abort', () => this.settle(new Error('the conversation was cancelled')), { once: true });
  }

  async end(output: () => string): Promise<ConversationEnd> {
    this.child.on('exit', (code, signal) => {
      if (this.leaving) return;
      const how = signal ? `was ended by ${signal}` : `exited with status ${code}`;
      this.finish('agent_error', 'exited', `The agent's process ${how} before it was done.${output() ? ` It printed: ${output()}` : ''}`);
    });
    this.resume();
    try {
      const end = await this.ended;
      if (end instanceof Error) throw end;
      return end;
    } finally {
      clearTimeout(this.timer);
    }
  }

  private onMessage(raw: unknown): void {
    const parsed = childMessage.safeParse(raw);
    if (!parsed.success) {
      this.finish('agent_error', 'protocol', `The agent sent a message that is not of the protocol: ${parsed.error.issues[0]?.message ?? 'unknown'}`);
      return;
    }
    const message = parsed.data;
    switch (message.type) {
      case 'ready':
        this.send({
          type: 'start',
          file: this.options.file,
          session: { instructions: this.options.instructions, tools: this.options.tools, parameters: this.options.parameters },
        });
        return;
      case 'done':
        // Calls that the agent did not wait for are still carried out and what it said is still stored.
        this.leaving = true;
        if (this.inFlight === 0 && this.queue.length === 0) this.finish('completed');
        return;
      case 'error':
        this.finish('agent_error', 'threw', message.message);
        return;
      default:
        this.queue.push(() => this.serve(message));
        this.pump();
    }
  }

  private pump(): void {
    while (this.inFlight < MAX_CALLS_IN_FLIGHT) {
      const next = this.queue.shift();
      if (!next) break;
      this.inFlight++;
      this.pause();
      next()
        .catch((error: unknown) => this.settle(error instanceof Error ? error : new Error(String(error))))
        .finally(() => {
          this.inFlight--;
          if (this.inFlight === 0) this.resume();
          this.pump();
          if (this.leaving && this.inFlight === 0) this.finish('completed');
        });
    }
  }

  private async serve(message: Extract<ChildMessage, { type: 'call' | 'receive' | 'reply' }>): Promise<void> {
    if (message.type === 'call') {
      const result = await this.options.call(message.tool, message.args, message.idempotencyKey);
      this.send({ type: 'answer', n: message.n, value: result });
      if (result.problem?.code === 'budget_exhausted') this.finish('budget_exhausted', result.problem.code, result.problem.message);
      return;
    }
    if (message.type === 'receive') {
      const text = this.replied ? this.options.turns[this.turn] : undefined;
      if (text === undefined) {
        this.send({ type: 'answer', n: message.n, value: null });
        return;
      }
      this.turn++;
      this.replied = false;
      await this.options.said(this.turn, 'user', text, null);
      this.send({ type: 'answer', n: message.n, value: { turn: this.turn, text } });
      return;
    }
    await this.options.said(Math.max(this.turn, 1), 'agent', message.text, (message.data as { [key: string]: Json } | null) ?? null);
    this.replied = true;
    this.send({ type: 'answer', n: message.n, value: null });
  }

  /** The agent's clock runs only while the agent has nothing to wait for from us. */
  private resume(): void {
    this.runningSince = performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        this.finish('agent_timeout', 'agent_timeout', `The agent used up its ${this.options.wallMs} ms.`);
      },
      Math.max(0, this.options.wallMs - this.agentMs),
    );
  }

  private pause(): void {
    if (this.runningSince !== null) this.agentMs += performance.now() - this.runningSince;
    this.runningSince = null;
    clearTimeout(this.timer);
  }

  private finish(ending: ConversationEnd['ending'], code?: string, message?: string): void {
    this.settle({ ending, problem: code ? { code, message: message ?? code } : null });
  }

  private send(message: HostMessage): void {
    // A child that has gone is reported by its exit; a write to it then says nothing new.
    if (this.child.connected) this.child.send(message, () => {});
  }
}

function childEntry(): string {
  const source = fileURLToPath(new URL('./child.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./child.js', import.meta.url));
}

function collectOutput(child: ChildProcess): { text(): string } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      if (bytes < MAX_OUTPUT_BYTES) chunks.push(chunk.subarray(0, MAX_OUTPUT_BYTES - bytes));
      bytes += chunk.length;
    });
  }
  return { text: () => Buffer.concat(chunks).toString('utf8').trim().slice(-2_000) };
}

/** Ends the child and whatever it started: SIGTERM to the group, then SIGKILL. */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  if (child.exitCode === null && child.signalCode === null) {
    signalGroup(pid, 'SIGTERM');
    await Promise.race([new Promise((resolve) => child.once('exit', resolve)), new Promise((resolve) => setTimeout(resolve, EXIT_GRACE_MS).unref())]);
  }
  signalGroup(pid, 'SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the whole group has ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
