import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit.ts';
import type { Host, Stream } from './host.ts';
import { TerminalKeys } from './terminal-keys.ts';
import { reportFailure } from './failure.ts';
import { runCommandLine } from './program.ts';

/** The `trialbed` command: runs with the arguments of this process and ends it. */
export async function main(): Promise<void> {
  const host = processHost();
  const args = process.argv.slice(2);
  // Without this an error outside of every wait would end the process with 1, which means "gate not met".
  process.on('uncaughtException', (error) => {
    void reportFailure(host, args, error).then((exit) => process.exit(exit === EXIT.ok ? EXIT.infrastructure : exit));
  });
  const exit = await runCommandLine(args, host);
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(exit);
}

/** The host of this process. Nothing here reads a variable: they go on to the configuration as they are. */
function processHost(): Host {
  return {
    out: quietStream(process.stdout),
    err: quietStream(process.stderr),
    cwd: process.cwd(),
    env: process.env,
    connect: async (settings) => {
      // Loaded only by commands that need it: it takes most of a second.
      const { connect } = await import('../client/index.ts');
      return await connect({ ...settings, via: 'cli' });
    },
    checks: {
      run: async (request) => (await import('../client/check.ts')).checks.run(request),
      validation: async (suite, options) => (await import('../client/check.ts')).checks.validation(suite, options),
      recording: async (request) => (await import('../client/check.ts')).checks.recording(request),
      recordedRuns: async (request) => (await import('../client/check.ts')).checks.recordedRuns(request),
    },
    onSignal(listener) {
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return {
        [Symbol.dispose]() {
          process.off('SIGINT', listener);
          process.off('SIGTERM', listener);
        },
      };
    },
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
    ...(process.stdin.isTTY && process.stdout.isTTY && { keys: () => new TerminalKeys(process.stdin) }),
    kill: (code) => process.exit(code),
  };
}

/** One line of standard input. On standard error, because standard output may be somewhere else. */
async function ask(question: string): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  // In a line that is being edited Ctrl-C raises no signal of the process.
  lines.once('SIGINT', () => resolve(null));
  lines.once('close', () => resolve(''));
  lines.question(question, resolve);
  try {
    return await promise;
  } finally {
    lines.close();
  }
}

/** A reader that goes away (`| head`) is no error: what is written after it is dropped, and the command goes on to its end. */
function quietStream(stream: NodeJS.WriteStream): Stream {
  let gone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone = true;
  });
  return {
    write: (text) => (gone ? false : stream.write(text)),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    hasColors: () => stream.isTTY && stream.hasColors(),
  };
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableEnded || stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
