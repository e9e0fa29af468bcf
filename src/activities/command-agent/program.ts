import type { ChildProcess } from 'node:child_process';
import { finished } from 'node:stream/promises';
import { headOf, startGroup } from '../../processes/group.ts';
import type { TurnEnd } from '../gateway-agent/conversation.ts';

/** How long what a program printed may come after its exit: something that it started may hold its output open. */
const PARTING_MS = 2_000;

export interface ProgramOptions {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** Name of the variable in `env` whose value no other program has: by it, what left the process group is found. */
  readonly marker: string;
  /** All of its environment. */
  readonly env: { readonly [name: string]: string };
  readonly stdin: string;
  /** Longest output; in bytes. */
  readonly maxOutputBytes: number;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/**
 * Runs a program to its end in a process group of its own, of which nothing is left afterwards, nor of what left the group and kept its environment; nor when this
 * process dies, since a shell in that group waits for the end of a pipe that only this process holds. @throws when it could not be started.
 */
export async function runProgram(options: ProgramOptions): Promise<TurnEnd> {
  const { file, args, folder, env, signal } = options;
  if (signal.aborted) return { kind: 'stopped' };
  const group = await startGroup(file, args, { folder, env, marker: options.marker });
  try {
    return await Promise.race([endOf(group.child, options), aborted(signal)]);
  } finally {
    await group.end();
  }
}

async function endOf(child: ChildProcess, { stdin, maxOutputBytes }: ProgramOptions): Promise<TurnEnd> {
  const printed = headOf([child.stderr]);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  child.once('error', reject);
  const chunks: Buffer[] = [];
  const flooded = new Promise<TurnEnd>((resolve) => {
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxOutputBytes) chunks.push(chunk);
      else resolve({ kind: 'failed', code: 'protocol', message: `The agent printed more than ${maxOutputBytes} bytes.` });
    });
  });
  child.stdin?.end(stdin);
  const exited = new Promise<TurnEnd>((resolve) => {
    let parting: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(parting);
      const { exitCode, signalCode } = child;
      if (exitCode === 0) return resolve({ kind: 'answered', output: Buffer.concat(chunks) });
      const how = signalCode ? `was ended by ${signalCode}` : `exited with status ${exitCode}`;
      resolve({ kind: 'failed', code: 'exited', message: `The agent's program ${how}.${printed.text() ? ` It printed: ${printed.text()}` : ''}` });
    };
    // Not the child's own `close`: that waits for the guard's pipe as well, which stays open until the group is ended.
    const printedAll = Promise.all([child.stdout, child.stderr].map((stream) => stream && finished(stream).catch(() => {})));
    child.once('exit', () => {
      parting = setTimeout(end, PARTING_MS);
      void printedAll.then(end);
    });
  });
  return Promise.race([exited, flooded, failed]);
}

function aborted(signal: AbortSignal): Promise<TurnEnd> {
  return new Promise((resolve) => {
    const stop = () => resolve({ kind: 'stopped' });
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}
