import { readdir, readFile } from 'node:fs/promises';

/** A process that starts others while it is looked for may be missed once, and again; what then still escapes is left to the machine. */
const ROUNDS = 20;

/**
 * Ends every process whose environment began with the entry, wherever it went: a program that leads a session of its own belongs to no group of ours any more, but has
 * the environment that it was given, and hands it on. On Linux only, where `/proc` tells it; one that was started with another environment is found by its control group, where there is one.
 */
export async function endEscaped(entry: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const found = await processesWith(entry);
    if (found.length === 0) return;
    // Stopped first, so that none of them starts another while the rest is ended.
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of found) send(pid, signal);
  }
}

async function processesWith(entry: string): Promise<readonly number[]> {
  const marker = Buffer.from(`\0${entry}\0`);
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      // Gone meanwhile, or somebody else's.
      const environment = await readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));
      return Buffer.concat([Buffer.from('\0'), environment]).includes(marker);
    }),
  );
  return pids.filter((_, index) => marked[index]).map(Number);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
