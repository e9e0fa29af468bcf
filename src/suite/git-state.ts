import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where a folder's content stands in its history. Null where it is not known: outside a work tree, ignored by it, or without git. */
export interface GitState {
  /** Full hash of HEAD; null before the first commit as well. */
  readonly commit: string | null;
  /** Whether the folder holds changes, or files, that are in no commit. */
  readonly dirty: boolean | null;
}

const UNKNOWN: GitState = { commit: null, dirty: null };
/** A work tree on a slow disk must not hold up a batch. */
const TIMEOUT_MS = 5_000;

/**
 * Commit and dirty state of a folder, or of the folder that a file lies in. Writes nothing, runs no hook, and never fails. `env`: variables for git; default
 * those of this process.
 */
export async function gitState(path: string, env?: NodeJS.ProcessEnv): Promise<GitState> {
  const folder = await folderOf(path);
  if (folder === null) return UNKNOWN;
  const git: Git = (args) => runGit(folder, args, env);
  if ((await git(['rev-parse', '--is-inside-work-tree'])).out !== 'true') return UNKNOWN;
  // Exit code 0: an ignored folder (a build) has nothing to do with the commit of the tree around it.
  if ((await git(['check-ignore', '-q', '.'])).code === 0) return UNKNOWN;
  // Nor has a dependency, whether or not somebody told git to ignore it.
  if (folder.split(sep).includes('node_modules') && (await git(['ls-files', '--', '.'])).out === '') return UNKNOWN;
  const [head, status] = await Promise.all([
    git(['rev-parse', '--verify', '-q', 'HEAD']),
    git(['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=none', '--', '.']),
  ]);
  const commit = head.code === 0 ? head.out : null;
  if (status.code === 'too_long') return { commit, dirty: true };
  return { commit, dirty: status.code === 0 ? status.out !== '' : null };
}

async function folderOf(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isDirectory() ? path : dirname(path);
  } catch {
    return null;
  }
}

interface GitEnd {
  readonly code: number | 'too_long' | 'failed';
  readonly out: string;
}
type Git = (args: readonly string[]) => Promise<GitEnd>;

async function runGit(folder: string, args: readonly string[], env: NodeJS.ProcessEnv | undefined): Promise<GitEnd> {
  const fixed = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-C', folder];
  try {
    const { stdout } = await run('git', [...fixed, ...args], { timeout: TIMEOUT_MS, maxBuffer: 256 * 1024, windowsHide: true, ...(env && { env }) });
    return { code: 0, out: stdout.trim() };
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return { code: 'too_long', out: '' };
    return { code: typeof code === 'number' ? code : 'failed', out: '' };
  }
}
