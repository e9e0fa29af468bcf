import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { endGroup, headOf } from '../../processes/group.ts';
import type { ConversationEnd } from '../contract.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { CHANNEL_FD } from './protocol.ts';

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
    await endGroup(child);
  }
}

function childEntry(): string {
  const source = fileURLToPath(new URL('./child.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./child.js', import.meta.url));
}
