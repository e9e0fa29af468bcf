import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { portAnswers } from './ports.ts';
import type { ServiceProcess } from './process.ts';
import { startProcess } from './process.ts';

export interface TemporalServerOptions {
  /** The `temporal` executable. */
  readonly cli: string;
  readonly port: number;
  /** Port of the web interface; null for none. */
  readonly uiPort: number | null;
  /** Database file, so that histories outlive the server; null keeps them in memory. */
  readonly databaseFile: string | null;
  readonly logFile: string;
  readonly cwd: string;
  /** Hears of the process as soon as it exists, before it is ready. */
  readonly onProcess?: (process: ServiceProcess) => Promise<void>;
}

/** A Temporal development server of ours, on the loopback interface. */
export interface TemporalServer {
  /** `host:port`. */
  readonly address: string;
  readonly process: ServiceProcess;
  stop(): Promise<void>;
}

/** The Temporal server did not come up. */
export class TemporalStartError extends Error {
  override readonly name = 'TemporalStartError';
  readonly code = 'temporal_start';
  readonly logFile: string;
  readonly reason: string;

  constructor(logFile: string, reason: string) {
    super(`the Temporal server did not start: ${reason}; its log is ${logFile}`);
    this.logFile = logFile;
    this.reason = reason;
  }
}

/** Starts the server and waits until it accepts connections. @throws {TemporalStartError} */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(options.port), '--log-level', 'warn'];
  args.push(...(options.uiPort === null ? ['--headless'] : ['--ui-port', String(options.uiPort)]));
  if (options.databaseFile !== null) {
    // A write-ahead log without fsync: twice the rate of the defaults, and what the server wrote survives its own death.
    args.push('--db-filename', options.databaseFile, '--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=OFF');
  }
  const server = await startProcess(options.cli, args, { logFile: options.logFile, cwd: options.cwd });
  await options.onProcess?.(server);
  const deadline = Date.now() + 60_000;
  while (!(await portAnswers('127.0.0.1', options.port))) {
    if (server.exit() !== null || Date.now() > deadline) {
      await server.stop(['SIGTERM'], 5_000);
      const log = await readFile(options.logFile, 'utf8').catch(() => '');
      throw new TemporalStartError(options.logFile, reasonOf(log.trim().split('\n').at(-1) ?? ''));
    }
    await sleep(50);
  }
  return { address: `127.0.0.1:${options.port}`, process: server, stop: () => server.stop(['SIGTERM', 'SIGINT'], 15_000) };
}

/** The message of a line of the server's log, which is JSON, or the line itself. */
function reasonOf(line: string): string {
  try {
    const { message, msg } = JSON.parse(line) as { readonly message?: unknown; readonly msg?: unknown };
    return String(message ?? msg ?? line);
  } catch {
    return line === '' ? 'it said nothing' : line;
  }
}
