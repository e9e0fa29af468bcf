import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const COMMAND = fileURLToPath(new URL('../../../bin/trialbed.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command of trialbed as a process of its own. */
export interface Command {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
}

/** Where commands run and write to. */
export interface Place {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts `trialbed`; what it prints is appended to a file of that name in the home's logs. */
export function startCommand({ home, env }: Place, name: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}): Command {
  const log = openSync(join(home, 'logs', `${name}.log`), 'a');
  const child = spawn(process.execPath, [COMMAND, ...args, '--home', home], { cwd: home, env: { ...env, ...variables }, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = new Promise<Ended>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  return { pid: child.pid ?? 0, ended, kill: (signal) => void child.kill(signal) };
}

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly args: string;
}

/** All processes of the machine. */
export async function processes(): Promise<readonly Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return pid && parent && args ? [{ pid: Number(pid), parent: Number(parent), args }] : [];
    });
}

/** Ends a process, and with `children` those that it started, at once and without a chance to clean up. @returns false when it was gone. */
export async function killAtOnce(pid: number, options: { readonly children?: boolean } = {}): Promise<boolean> {
  const children = options.children ? (await processes()).filter(({ parent }) => parent === pid).map((child) => child.pid) : [];
  const [killed] = [pid, ...children].map((one) => {
    try {
      return process.kill(one, 'SIGKILL');
    } catch (error) {
      // A child may see the death of its parent first.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      return false;
    }
  });
  return killed ?? false;
}
