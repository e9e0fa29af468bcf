import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { customAlphabet } from 'nanoid';
import pg from 'pg';
import type { TestServices } from '../harness/services.ts';
import { type ProgramEnd, ROOT } from './package-place.ts';

const newName = customAlphabet('abcdefghjkmnpqrstuvwxyz23456789', 8);

/** A reader's folder: with `trialbed` on the PATH, a store and a task queue of its own. */
export interface ReaderFolder extends AsyncDisposable {
  readonly path: string;
  write(file: string, text: string): Promise<void>;
  /** Runs lines of a shell, ended by the first that fails. */
  shell(script: string): Promise<ProgramEnd>;
  /** Runs a TypeScript file of the checkout. */
  node(file: string, ...args: string[]): Promise<ProgramEnd>;
}

export async function readerFolder(services: TestServices): Promise<ReaderFolder> {
  const path = await mkdtemp(join(tmpdir(), 'trialbed-docs-'));
  const bin = join(path, '.bin');
  await mkdir(bin);
  await writeFile(
    join(bin, 'trialbed'),
    `#!/bin/sh\nexec "${process.execPath}" --import "${join(ROOT, 'test', 'harness', 'jsx.ts')}" "${join(ROOT, 'src', 'cli', 'main.ts')}" "$@"\n`,
  );
  await chmod(join(bin, 'trialbed'), 0o755);
  const name = `docs_${newName()}`;
  const url = new URL(services.postgresUrl);
  url.pathname = `/${name}`;
  const { HOME, XDG_CACHE_HOME } = process.env;
  const env = {
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME,
    XDG_CACHE_HOME,
    TRIALBED_DATABASE_URL: url.href,
    TEMPORAL_ADDRESS: services.temporalAddress,
    TRIALBED_TASK_QUEUE: name,
  };
  const run = (program: string, args: readonly string[]): Promise<ProgramEnd> =>
    new Promise((resolve) => {
      const child = execFile(program, args, { cwd: path, env, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  return {
    path,
    async write(file, text) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text);
    },
    shell: (script) => run('bash', ['--norc', '-euo', 'pipefail', '-c', script]),
    node: (file, ...args) => run(process.execPath, [join(ROOT, file), ...args]),
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
      const client = new pg.Client({ connectionString: services.postgresUrl });
      await client.connect();
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
      await client.end();
    },
  };
}
