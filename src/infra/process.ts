import { execFile, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server that we started and that we stop. */
export interface ServiceProcess {
  readonly pid: number;
  /** Settles when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** Null while it runs. */
  readonly exit: () => Exit | null;
  /** Sends the signals one after the other, each with this long to work, and resolves when the process has ended. */
  stop(signals: readonly NodeJS.Signals[], graceMs: number): Promise<void>;
}

export interface StartOptions {
  /** Standard output and error are appended to this file. */
  readonly logFile: string;
  readonly cwd: string;
  /** User and group to run as. Default: ours. */
  readonly user?: SystemUser | undefined;
}

export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** A program could not be started at all (not found, not executable). */
export class ProcessStartError extends Error {
  override readonly name = 'ProcessStartError';
  readonly code = 'process_start';
  readonly program: string;
  readonly reason: string;

  constructor(program: string, reason: string) {
    super(`${program} could not be started: ${reason}`);
    this.program = program;
    this.reason = reason;
  }
}

/** Starts a server in the background. @throws {ProcessStartError} */
export async function startProcess(program: string, args: readonly string[], options: StartOptions): Promise<ServiceProcess> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, 'a');
  const identity = options.user === undefined ? {} : { uid: options.user.uid, gid: options.user.gid };
  const child = spawn(program, [...args], { cwd: options.cwd, stdio: ['ignore', log, log], ...identity });
  closeSync(log);
  let ended: Exit | null = null;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = { code, signal };
      resolve(ended);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new ProcessStartError(program, error.message)));
  });
  const pid = child.pid;
  if (pid === undefined) throw new ProcessStartError(program, 'it has no process id');
  return {
    pid,
    exited,
    exit: () => ended,
    async stop(signals, graceMs) {
      for (const signal of signals) {
        if (ended !== null) return;
        child.kill(signal);
        const timer = new AbortController();
        await Promise.race([exited, sleep(graceMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
        timer.abort();
      }
      if (ended === null) {
        child.kill('SIGKILL');
        await exited;
      }
    },
  };
}

/**
 * What tells this process from a later one with the same id: the moment of its start as the system states it.
 * Null when there is no such process.
 */
export async function startMark(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses and may itself contain spaces; state is field 3, start time field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : `ticks ${fields[19] ?? ''}`;
  } catch {
    if (process.platform === 'linux') return null;
  }
  try {
    const { stdout } = await run('ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
    const line = stdout.trim();
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

/** Ends a process that an earlier, dead owner of ours left behind; only if its start mark is the recorded one. */
export async function endLeftover(pid: number, mark: string, signals: readonly NodeJS.Signals[], graceMs: number): Promise<boolean> {
  if ((await startMark(pid)) !== mark) return false;
  for (const signal of [...signals, 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return true;
    }
    for (let waited = 0; waited < graceMs; waited += 50) {
      if ((await startMark(pid)) !== mark) return true;
      await sleep(50);
    }
  }
  return true;
}
