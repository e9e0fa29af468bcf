import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = `${sep}node_modules${sep}.bin`;
/** PATH without what npm and this checkout put in front of it: what a user's shell has. */
const USER_PATH = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.endsWith(MODULES));

/** How a program ended. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Node of the user's own that is too old for us, or why there is none to test with. */
export function olderNode(): { readonly met: boolean; readonly reason: string; readonly file: string } {
  for (const folder of USER_PATH) {
    const { stdout } = spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' });
    const major = Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
    if (major >= 20 && major < 24) return { met: true, reason: '', file: join(folder, 'node') };
    if (major >= 24) return { met: false, reason: `the machine's own Node is ${stdout.trim()}, which is not too old`, file: '' };
  }
  return { met: false, reason: 'the machine has no Node of its own', file: '' };
}

/** An empty folder as a user has one: a shell's environment, nothing of this checkout's. */
export class UserFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<UserFolder> {
    const path = await mkdtemp(join(tmpdir(), 'trialbed-package-'));
    // So that the user as which PostgreSQL runs can enter it.
    await chmod(path, 0o755);
    return new UserFolder(path);
  }

  /** Runs a program of PATH, where `first` comes before the user's folders. */
  run(program: string, args: readonly string[], options: { readonly first?: readonly string[]; readonly cwd?: string } = {}): Promise<ProgramEnd> {
    const path = [...(options.first ?? []), ...USER_PATH].join(delimiter);
    return runProgram(program, args, options.cwd ?? this.path, path);
  }

  /** Programs of the installed packages, as `npx` and npm scripts have them. */
  get bin(): string {
    return join(this.path, 'node_modules', '.bin');
  }

  /** Command lines of processes that name this folder. */
  async processes(): Promise<readonly string[]> {
    const { stdout } = await this.run('ps', ['-A', '-o', 'pid=,args='], { cwd: ROOT });
    return stdout.split('\n').filter((line) => line.includes(this.path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** Makes the package's archive in a folder, built first where that is needed. */
export async function packInto(
  folder: string,
): Promise<{ readonly file: string; readonly files: readonly string[]; readonly size: number; readonly unpacked: number }> {
  await mkdir(folder, { recursive: true });
  await buildPackage();
  const packed = await runProgram('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], ROOT, USER_PATH.join(delimiter));
  if (packed.code !== 0) throw new Error(`npm pack failed:\n${packed.stderr}`);
  const [report] = JSON.parse(packed.stdout) as { filename: string; files: { path: string }[]; unpackedSize: number }[];
  if (!report) throw new Error('npm pack reported nothing');
  const file = join(folder, report.filename);
  return { file, files: report.files.map(({ path }) => path).sort(), size: (await stat(file)).size, unpacked: report.unpackedSize };
}

/** Builds the package where its sources changed since it was built. */
export async function buildPackage(): Promise<void> {
  const built = await runProgram(process.execPath, [join(ROOT, 'scripts', 'bootstrap.mjs')], ROOT, USER_PATH.join(delimiter));
  if (built.code !== 0) throw new Error(`the package could not be built:\n${built.stderr}`);
}

/** All files below a folder, relative to it. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function runProgram(program: string, args: readonly string[], cwd: string, path: string): Promise<ProgramEnd> {
  // npm tells the scripts that it starts where it is, and a second npm would believe it.
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_(registry|cache|cafile|proxy|https_proxy)$)|INIT_CWD|VITEST|TRIALBED_|TEMPORAL_|NODE)/.test(name),
  );
  const env = { ...Object.fromEntries(kept), PATH: path, TRIALBED_POSTGRES: 'embedded', NO_COLOR: '1' };
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      // No exit code: the program could not be started.
      resolve({ code: child.exitCode, stdout, stderr: child.exitCode === null && error ? `${error.message}\n${stderr}` : stderr });
    });
  });
}
