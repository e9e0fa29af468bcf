import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { makeControlGroup } from '../../processes/control-group.ts';
import { headOf, holding } from '../../processes/group.ts';
import type { ConversationEnd } from '../contract.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { CHANNEL_FD } from './protocol.ts';

/** Variable by whose value what left the child's process group is found. */
const MARKER = 'TRIALBED_PROCESS';

export interface ModuleAgentOptions extends ConversationOptions {
  /** Variables of the child's environment; one more is by which its processes are found. */
  readonly env: { readonly [name: string]: string };
}

/**
 * Runs a module agent in a process group of its own until the conversation is over, the agent's time is up, or the signal is raised; afterwards the
 * whole group is gone, and what left it. Never throws for what the agent does.
 */
export async function runModuleAgent(options: ModuleAgentOptions): Promise<ConversationEnd> {
  const mark = randomUUID();
  const control = await makeControlGroup();
  const env = { ...options.env, [MARKER]: mark };
  const child = spawn(process.execPath, [childEntry()], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  // The agent's code is loaded when the conversation begins, so nothing was started so far.
  if (child.pid !== undefined) control?.enter(child.pid);
  const group = holding(child, control, `${MARKER}=${mark}`);
  const output = headOf([child.stdout, child.stderr]);
  const conversation = new Conversation(child.stdio[CHANNEL_FD] as Duplex, options);
  child.on('error', (error) => conversation.failed(error));
  child.on('exit', (code, signal) => {
    const how = signal ? `was ended by ${signal}` : `exited with status ${code}`;
    conversation.exited(() => `The agent's process ${how} before it was done.${output.text() ? ` It printed: ${output.text()}` : ''}`);
  });
  try {
    return await conversation.end();
  } finally {
    await group.end();
  }
}

function childEntry(): string {
  const source = fileURLToPath(new URL('./child.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./child.js', import.meta.url));
}
