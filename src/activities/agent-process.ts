import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

/** How long a process may take to end after SIGTERM, and again after SIGKILL. */
const EXIT_GRACE_MS = 2_000;
/** What of an agent's own output is kept for the record of an error. */
const MAX_OUTPUT_BYTES = 16 * 1024;

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
  child.stdout?.destroy();
  child.stderr?.destroy();
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
