import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { customAlphabet } from 'nanoid';
import pg from 'pg';
import type { TestServices } from '../harness/services.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const JSX = new URL('../harness/jsx.ts', import.meta.url).href;
const newName = customAlphabet('abcdefghjkmnpqrstuvwxyz23456789', 8);

/** What a command printed and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when standard output has so many whole lines. */
  lines(count: number): Promise<void>;
  /** Resolves when standard output has this text. */
  wrote(text: string): Promise<void>;
  /** Resolves when standard error has this text. */
  said(text: string): Promise<void>;
}

/** A folder to run the real command in, with environment variables and services of its own. */
export interface CommandPlace extends AsyncDisposable {
  readonly cwd: string;
  start(...args: string[]): Running;
  run(...args: string[]): Promise<Ended>;
}

/** Over the services that all tests share, with a store and a task queue of its own; without `services`, the command starts what it needs.
 * `variables` are put over the environment, as they are when a command starts. */
export async function commandPlace(services: TestServices | null, variables: NodeJS.ProcessEnv = {}): Promise<CommandPlace> {
  const cwd = await mkdtemp(join(tmpdir(), 'trialbed-cli-'));
  const name = `cli_${newName()}`;
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME };
  if (services) {
    const url = new URL(services.postgresUrl);
    url.pathname = `/${name}`;
    Object.assign(env, { TRIALBED_DATABASE_URL: url.href, TEMPORAL_ADDRESS: services.temporalAddress, TRIALBED_TASK_QUEUE: name });
  } else {
    env.TRIALBED_POSTGRES = 'embedded';
  }
  const start = (...args: string[]): Running => startCommand(args, cwd, { ...env, ...variables });
  return {
    cwd,
    start,
    run: (...args) => start(...args).ended,
    async [Symbol.asyncDispose]() {
      if (!services) await start('down', '--force').ended;
      await rm(cwd, { recursive: true, force: true });
      if (!services) return;
      const client = new pg.Client({ connectionString: services.postgresUrl });
      await client.connect();
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
      await client.end();
    },
  };
}

/** Lines of JSON, without those that tell how far a batch is: how many there are says how fast the machine is. */
export function jsonLines(text: string): { readonly type: string; readonly [name: string]: unknown }[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { type: string })
    .filter(({ type }) => type !== 'progress');
}

function startCommand(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Running {
  const child = spawn(process.execPath, ['--import', JSX, MAIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    changed();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    changed();
  });
  const ended = new Promise<Ended>((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })));
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const watcher = (): void => {
        if (!holds()) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
      void ended.then(() => reject(new Error(`the command ended before that:\n${stdout}\n${stderr}`)));
    });
  return {
    process: child,
    ended,
    lines: (count) => until(() => stdout.split('\n').length > count),
    wrote: (text) => until(() => stdout.includes(text)),
    said: (text) => until(() => stderr.includes(text)),
  };
}
