import { execFile } from 'node:child_process';
import { access, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ServiceProcess, SystemUser } from './process.ts';
import { startProcess } from './process.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { databaseUser } from './system-user.ts';

const run = promisify(execFile);

export interface EmbeddedPostgresOptions {
  /** The cluster's folder. Made when missing; its parent must be reachable by the user that PostgreSQL runs as. */
  readonly dataFolder: string;
  readonly port: number;
  readonly password: string;
  readonly logFile: string;
  /**
   * Whether commits are forced to the disk. Default true. Without it a commit survives the death of every process but
   * not that of the machine: for tests.
   */
  readonly fsync?: boolean;
  /** Sessions that it takes. Default 200. */
  readonly connections?: number;
  /** Hears of the process as soon as it exists, before it is ready. */
  readonly onProcess?: (process: ServiceProcess) => Promise<void>;
}

/** A PostgreSQL server of ours, on the loopback interface. */
export interface EmbeddedPostgresServer {
  /** URL of the superuser, database `postgres`. Holds the password. */
  readonly url: string;
  readonly version: string;
  readonly process: ServiceProcess;
  /** Ends sessions, writes a checkpoint and stops (PostgreSQL's "fast" shutdown). */
  stop(): Promise<void>;
}

/** PostgreSQL did not come up. */
export class PostgresStartError extends Error {
  override readonly name = 'PostgresStartError';
  readonly code = 'postgres_start';
  readonly logFile: string;
  readonly reason: string;

  constructor(logFile: string, reason: string) {
    super(`PostgreSQL did not start: ${reason}; its log is ${logFile}`);
    this.logFile = logFile;
    this.reason = reason;
  }
}

/**
 * Starts PostgreSQL on the folder, making the cluster first when there is none. A cluster whose server was killed recovers
 * by itself; what is left of the old server's processes is waited for.
 *
 * @throws {PostgresStartError}
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgresServer> {
  const user = await databaseUser();
  const binaries = await postgresBinaries(user);
  await initialise(binaries.initdb, options, user);
  const url = `postgres://postgres:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/postgres`;
  const settings = [
    'listen_addresses=127.0.0.1',
    // No socket file: nothing to leave behind, and no limit on the length of the folder's path.
    'unix_socket_directories=',
    `max_connections=${options.connections ?? 200}`,
    // Dropping many worlds in one transaction locks every table of them.
    'max_locks_per_transaction=256',
    'synchronous_commit=on',
    `fsync=${options.fsync === false ? 'off' : 'on'}`,
    'timezone=UTC',
    'log_timezone=UTC',
  ];
  const args = ['-D', options.dataFolder, '-p', String(options.port), ...settings.flatMap((setting) => ['-c', setting])];
  // Backends of a killed server take a moment to notice; until then PostgreSQL refuses the folder.
  const deadline = Date.now() + 60_000;
  for (;;) {
    const server = await startProcess(binaries.postgres, args, { logFile: options.logFile, cwd: options.dataFolder, user: user ?? undefined });
    await options.onProcess?.(server);
    const answer = await firstAnswer(url, server, deadline);
    if (answer === 'accepted') {
      return { url, version: binaries.version, process: server, stop: () => server.stop(['SIGINT', 'SIGQUIT'], 15_000) };
    }
    await server.stop(['SIGINT'], 5_000);
    if (answer === 'wrong password') {
      throw new PostgresStartError(
        options.logFile,
        `the data in ${options.dataFolder} have another password than this home; remove that folder to begin without them`,
      );
    }
    if (Date.now() > deadline) throw new PostgresStartError(options.logFile, await lastFatalLine(options.logFile));
    await sleep(250);
  }
}

/**
 * Makes the cluster in a folder beside its place, and moves it there when it is whole: an initdb that was interrupted leaves nothing that looks like a
 * cluster, and the next start removes what it left, with the file of the password.
 */
async function initialise(initdb: string, options: EmbeddedPostgresOptions, user: SystemUser | null): Promise<void> {
  const { dataFolder } = options;
  const [above, prefix] = [dirname(dataFolder), `${basename(dataFolder)}${BEING_MADE}`];
  await mkdir(above, { recursive: true });
  for (const left of await readdir(above)) if (left.startsWith(prefix)) await remove(join(above, left));
  const complete = await access(join(dataFolder, 'global', 'pg_control')).then(
    () => true,
    () => false,
  );
  if (complete) return;
  await remove(dataFolder);
  const making = await mkdtemp(join(above, prefix));
  const [data, passwordFile] = [join(making, 'data'), join(making, 'password')];
  try {
    await mkdir(data, { mode: 0o700 });
    await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (user !== null) for (const path of [making, data, passwordFile]) await chown(path, user.uid, user.gid);
    const identity = user === null ? {} : { uid: user.uid, gid: user.gid };
    // The built-in locale orders text alike on every machine.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const args = ['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', ...locale];
    await run(initdb, args, { cwd: making, ...identity });
    await rename(data, dataFolder);
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new PostgresStartError(options.logFile, `initdb failed: ${stderr.trim() || String(error)}`);
  } finally {
    await remove(making);
  }
}

/** Between the name of a cluster's folder and what is random in that of one being made. */
const BEING_MADE = '.making-';

/** An initdb whose starter was killed may still write there. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** Waits until a session can be opened, the server refuses its own password, or it has ended or takes too long. */
async function firstAnswer(url: string, server: ServiceProcess, deadline: number): Promise<'accepted' | 'wrong password' | 'none'> {
  while (server.exit() === null && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return 'accepted';
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === '28P01') return 'wrong password';
      await sleep(50);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return 'none';
}

async function lastFatalLine(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n');
  return lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? lines.at(-1) ?? 'it said nothing';
}
