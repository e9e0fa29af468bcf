import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ConversationEnd } from '../contract.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { CHANNEL_FD } from './protocol.ts';

/** How long a process may take to end after SIGTERM. */
const EXIT_GRACE_MS = 2_000;
/** What of the agent's own output is kept for the record of an error. */
const MAX_OUTPUT_BYTES = 16 * 1024;

export interface ModuleAgentOptions extends ConversationOptions {
  /** Variables of the child's environment, and nothing else. */
  readonly env: { readonly [name: string]: string };
}

/**
 * Runs a module agent in a process group of its own until the conversation is over, the agent's time is up, or the signal is raised; afterwards the
 * whole group is gone. Never throws for what the agent does.
 */
export async function runModuleAgent(options: ModuleAgentOptions): Promise<ConversationEnd> {
  const child = spawn(process.execPath, [childEntry()], { env: options.env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const output = collectOutput(child);
  const conversation = new Conversation(child.stdio[CHANNEL_FD] as Duplex, options);
  child.on('error', (error) => conversation.failed(error));
  child.on('exit', (code, signal) => {
    const how = signal ? `was ended by ${signal}` : `exited with status ${code}`;
    conversation.exited(() => `The agent's process ${how} before it was done.${output.text() ? ` It printed: ${output.text()}` : ''}`);
  });
  try {
    return await conversation.end();
  } finally {
    await endGroup(child);
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
