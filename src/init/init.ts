import { constants } from 'node:fs';
import { access, copyFile, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../infra/make-folder.ts';

/** What {@link initProject} made. */
export interface InitResult {
  /** Absolute path of the folder. */
  readonly dir: string;
  /** Files written, relative to it. */
  readonly written: readonly string[];
  /** Files that were there already and may stay as they are (`README.md`, `package.json`, `.gitignore`). */
  readonly kept: readonly string[];
}

/** A file that `init` would write is there already. Nothing was written. */
class InitConflictError extends Error {
  override readonly name = 'InitConflictError';
  readonly code = 'init_conflict';
  /** Relative to the folder. */
  readonly files: readonly string[];

  constructor(dir: string, files: readonly string[]) {
    super(`nothing was written, since ${dir} has ${files.join(', ')} already; choose an empty folder`);
    this.files = files;
  }
}

/** The folder cannot be made or written. Nothing was written. */
class InitFolderError extends Error {
  override readonly name = 'InitFolderError';
  readonly code = 'init_folder';

  constructor(dir: string, cause: unknown) {
    super(`nothing was written, since ${dir} cannot be used as a folder (${cause instanceof Error ? cause.message : String(cause)}); choose another`, {
      cause,
    });
  }
}

/**
 * Writes a small project that works: an environment of two tables and three tools, a suite with one case, and an agent in TypeScript. The folder is
 * made where missing. Overwrites nothing.
 *
 * @throws {InitConflictError} when one of its files exists; nothing is written then.
 * @throws {InitFolderError} when the folder cannot be made or written.
 */
export async function initProject(dir: string): Promise<InitResult> {
  const target = resolve(dir);
  const present = new Set<string>();
  for (const { to } of TEMPLATE) if (await exists(join(target, to))) present.add(to);
  const conflicts = TEMPLATE.filter((file) => present.has(file.to) && !file.mayStay).map((file) => file.to);
  if (conflicts.length > 0) throw new InitConflictError(target, conflicts);
  await requireFolder(target);
  const written: string[] = [];
  for (const { from, to } of TEMPLATE) {
    if (present.has(to)) continue;
    const path = join(target, to);
    await mkdir(dirname(path), { recursive: true });
    await copyFile(fileURLToPath(new URL(`./template/${from}`, import.meta.url)), path, constants.COPYFILE_EXCL);
    written.push(to);
  }
  return { dir: target, written, kept: [...present] };
}

/** Names that a package cannot carry as they are (`.gitignore`, a `package.json` inside) have others in the template. */
const TEMPLATE: readonly { readonly from: string; readonly to: string; readonly mayStay?: true }[] = [
  { from: 'README.md', to: 'README.md', mayStay: true },
  { from: 'environment/pack.ts', to: 'environment/pack.ts' },
  { from: 'environment/schema.sql', to: 'environment/schema.sql' },
  { from: 'environment/rooms.csv', to: 'environment/rooms.csv' },
  { from: 'environment/bookings.csv', to: 'environment/bookings.csv' },
  { from: 'environment/policy.md', to: 'environment/policy.md' },
  { from: 'suite/suite.yaml', to: 'suite/suite.yaml' },
  { from: 'suite/cases/smallest-free-room.yaml', to: 'suite/cases/smallest-free-room.yaml' },
  { from: 'suite/agents/planner.yaml', to: 'suite/agents/planner.yaml' },
  { from: 'suite/agents/planner.ts', to: 'suite/agents/planner.ts' },
  { from: 'package.json.template', to: 'package.json', mayStay: true },
  { from: 'gitignore', to: '.gitignore', mayStay: true },
];

async function requireFolder(dir: string): Promise<void> {
  try {
    await makeFolder(dir);
    await access(dir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new InitFolderError(dir, error);
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
