import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type ControlGroup, enterScript, killScript, makeControlGroup } from './control-group.ts';
import { endEscaped } from './escaped.ts';

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

/** A program, and what holds together all that it starts. */
export interface Group {
  readonly child: ChildProcess;
  /** Ends the program and whatever it started, in its process group, in its control group, or with its environment; as far as the system has these. */
  end(): Promise<void>;
}

/**
 * Starts a program that leads a process group of its own, in a control group of its own where one can be made. Nothing of either outlives this process, nor does what
 * left them and kept its environment: a shell beside them waits for the end of a pipe that only this process holds.
 *
 * @param file absolute path
 */
export async function startGroup(file: string, args: readonly string[], { folder, env, marker }: GroupOptions): Promise<Group> {
  const control = await makeControlGroup();
  const script = withGuard(marker, control);
  const child = spawn('/bin/sh', ['-c', script, file, ...args], { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  child.stdio[GUARD_FD]?.on('error', () => {});
  // A program need not read what it is sent.
  child.stdin?.on('error', () => {});
  return holding(child, control, `${marker}=${env[marker]}`);
}

/** Holds a child that leads a process group and has started nothing yet. `entry`: of its environment, and of no other program's. */
export function holding(child: ChildProcess, control: ControlGroup | null, entry: string): Group {
  return {
    child,
    async end() {
      await endGroup(child);
      await control?.end();
      await endEscaped(entry);
    },
  };
}

const GUARD_FD = 3;

/** Processes that the worker's user may have while it runs, as far as the system heeds it: not for root. */
const MAX_PROCESSES = 8_192;

/**
 * Becomes the program. What it leaves in the background ends everything once the pipe has no writer any more: first what left the group and has the marker in its
 * environment (named to no other process: `printf` is the shell's own), then the group with itself.
 */
const withGuard = (marker: string, control: ControlGroup | null) => `
(
  exec <&3 3<&- >/dev/null 2>&1
  read _
  ${control === null ? '' : killScript(control)}
  read self _ </proc/self/stat
  for at in $(printf %s "${marker}=$${marker}" | grep -lsFf - /proc/[0-9]*/environ); do
    pid=\${at#/proc/}
    [ "\${pid%/environ}" = "$self" ] || kill -KILL "\${pid%/environ}"
  done
  kill -KILL 0
) &
{ ulimit -u ${MAX_PROCESSES} || ulimit -p ${MAX_PROCESSES}; } 2>/dev/null
{ ${control === null ? '' : enterScript(control)}:; } 2>/dev/null
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
async function endGroup(child: ChildProcess): Promise<void> {
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
