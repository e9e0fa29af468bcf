/**
 * Runs in the agent's own process: loads the agent's file and gives it a session whose every method is a message to the host.
 * Has nothing of the host's environment but what the agent's description names.
 */
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { AgentReply, AgentSession, CallResult } from '../../environments/agent.ts';
import type { HostMessage } from './protocol.ts';

// Values of `protocol.ts`, which this process does not load: it would bring the host's libraries along.
const CHANNEL_FD = 3;
const MAX_ERROR_LENGTH = 4_000;

const waiting = new Map<number, (value: unknown) => void>();
let counter = 0;

const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
channel.on('error', () => process.exit(1));
// Split at line feeds alone: readline takes other characters for line ends too, which JSON leaves as they are.
let parts: string[] = [];
channel.setEncoding('utf8').on('data', (chunk: string) => {
  const [rest = '', ...lines] = chunk.split('\n').reverse();
  for (const line of lines.reverse()) {
    receive(JSON.parse(parts.join('') + line) as HostMessage);
    parts = [];
  }
  parts.push(rest);
});
endWithHost();
send({ type: 'ready' });

function receive(message: HostMessage): void {
  if (message.type === 'answer') {
    waiting.get(message.n)?.(message.value);
    waiting.delete(message.n);
    return;
  }
  run(message).then(
    () => finish({ type: 'done' }),
    (error: unknown) => finish({ type: 'error', message: textOf(error).slice(0, MAX_ERROR_LENGTH) }),
  );
}

/**
 * When the host is gone, nobody is left to act for, and nobody ends this process group. A thread watches for it: the agent's own code may be in a loop
 * that lets no event of this one through, or may have taken its listeners away.
 */
function endWithHost(): void {
  const watch = `setInterval(() => process.ppid === ${process.ppid} || process.kill(-process.pid, 'SIGKILL'), 500)`;
  new Worker(watch, { eval: true, execArgv: [], stdout: true, stderr: true }).unref();
}

async function run(start: Extract<HostMessage, { type: 'start' }>): Promise<void> {
  const module = (await import(pathToFileURL(start.file).href)) as { default?: unknown };
  if (typeof module.default !== 'function') throw new Error(`${start.file} has no default export that is a function`);
  const agent = module.default as (session: AgentSession) => Promise<AgentReply | undefined>;
  const session: AgentSession = {
    instructions: start.session.instructions,
    tools: start.session.tools as AgentSession['tools'],
    parameters: start.session.parameters as AgentSession['parameters'],
    services: start.session.services as AgentSession['services'],
    call: (tool, args, options) => ask<CallResult>({ type: 'call', tool, args, idempotencyKey: options?.idempotencyKey ?? null }),
    receive: () => ask<{ turn: number; text: string } | null>({ type: 'receive' }),
    reply: (text, data) => ask<void>({ type: 'reply', text, data: data ?? null }),
  };
  const answer = await agent(session);
  if (answer) await session.reply(answer.text, answer.data);
}

function ask<T>(message: object): Promise<T> {
  const n = counter++;
  return new Promise((resolve) => {
    waiting.set(n, resolve as (value: unknown) => void);
    send({ ...message, n });
  });
}

function send(message: object, sent?: () => void): void {
  channel.write(`${JSON.stringify(message)}\n`, sent);
}

function finish(message: object): void {
  // Exit only after the message has left, or the host would see a crash.
  send(message, () => process.exit(0));
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
