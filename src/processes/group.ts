import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** How long a process may take to end after SIGTERM, and again after SIGKILL. */
const EXIT_GRACE_MS = 2_000;
/** What of a process's output is kept for the record of an error. */
const MAX_OUTPUT_BYTES = 16 * 1024;

export interface GroupOptions {
  readonly folder: string;
  /** All of its environment. */
  readonly env: { readonly [name: string]: string };
  /** Name of the variable in `env` whose value no other program has: by it, what left the process group is found. */
  readonly marker: string;
}

/**
 * Starts a program that leads a process group of its own. Nothing of the group outlives this process, nor does what left it and kept its environment: a shell in it
 * waits for the end of a pipe that only this process holds. End it with {@link endGroup}, then with `endEscaped`.
 *
 * @param file absolute path
 */
export function spawnGroup(file: string, args: readonly string[], { folder, env, marker }: GroupOptions): ChildProcess {
  const child = spawn('/bin/sh', ['-c', withGuard(marker), file, ...args], { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  child.stdio[GUARD_FD]?.on('error', () => {});
  // A program need not read what it is sent.
  child.stdin?.on('error', () => {});
  return child;
}

const GUARD_FD = 3;

/** Processes that the worker's user may have while it runs, as far as the system heeds it: not for root. */
const MAX_PROCESSES = 8_192;

/**
 * Becomes the program. What it leaves in the background ends everything once the pipe has no writer any more: first what left the group and has the marker in its
 * environment (named to no other process: `printf` is the shell's own), then the group with itself.
 */
const withGuard = (marker: string) => `
(
  exec <&3 3<&- >/dev/null 2>&1
  read _
  read self _ </proc/self/stat
  for at in $(printf %s "${marker}=$${marker}" | grep -lsFf - /proc/[0-9]*/environ); do
    pid=\${at#/proc/}
    [ "\${pid%/environ}" = "$self" ] || kill -KILL "\${pid%/environ}"
  done
  kill -KILL 0
) &
{ ulimit -u ${MAX_PROCESSES} || ulimit -p ${MAX_PROCESSES}; } 2>/dev/null
exec 3<&- "$0" "$@"`;

/** Reads streams to their end and keeps the beginning, for the record of an error; `text` gives at most 2,000 characters of it. */
export function headOf(streams: readonly (Readable | null)[]): { text(): string } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (const stream of streams) {
    stream?.on('data', (chunk: Buffer) => {
      if (bytes < MAX_OUTPUT_BYTES) chunks.push(chunk.subarray(0, MAX_OUTPUT_BYTES - bytes));
      bytes += chunk.length;
    });
  }
  return { text: () => Buffer.concat(chunks).toString('utf8').trim().slice(-2_000) };
}

/** Ends a child that leads a process group, and whatever it started in it: SIGTERM to the group, then SIGKILL. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const running = () => child.exitCode === null && child.signalCode === null;
  if (running()) {
    signalGroup(pid, 'SIGTERM');
    await exitOf(child);
  }
  signalGroup(pid, 'SIGKILL');
  if (running()) await exitOf(child);
  for (const stream of child.stdio) stream?.destroy();
}

/** Waits, bounded, until the child has ended. */
async function exitOf(child: ChildProcess): Promise<void> {
  await Promise.race([new Promise((resolve) => child.once('exit', resolve)), new Promise((resolve) => setTimeout(resolve, EXIT_GRACE_MS).unref())]);
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the whole group has ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
