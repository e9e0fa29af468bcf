import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readSettings } from '../src/worker/config.ts';

const run = promisify(execFile);

/**
 * Folder of an npm package that only a check needs: installed once for each version, in the cache. `beside`: packages (`name@version`) that are installed with it;
 * with any, none of its optional ones is. @throws what npm says.
 */
export async function packageOnDemand(name: string, version: string, beside: readonly string[] = []): Promise<string> {
  const place = join(readSettings(process.env).cacheFolder, 'checks', `${name.replaceAll('/', '_')}@${version}`);
  const at = join(place, 'node_modules', name);
  if (existsSync(at)) return at;
  await mkdir(dirname(place), { recursive: true });
  // Made beside and then put in place: an interrupted installation leaves nothing that looks whole.
  const next = await mkdtemp(`${place}-`);
  try {
    await writeFile(join(next, 'package.json'), JSON.stringify({ private: true }));
    await run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...(beside.length > 0 ? ['--omit=optional'] : []), `${name}@${version}`, ...beside],
      { cwd: next },
    );
    await rm(place, { recursive: true, force: true });
    await rename(next, place);
  } finally {
    await rm(next, { recursive: true, force: true });
  }
  return at;
}
