import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startMark } from '../src/infra/process.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src');
const target = join(root, 'dist');
const STAMP = '.stamp';
/** Files below it are handed to users as they are: nothing in it is compiled. */
const VERBATIM = join('init', 'template');

/**
 * Builds `dist/`: compiled code with types, every file of `src/` that is not TypeScript, and the workflow bundle. Does nothing when
 * `dist/` was made from the same content. It is built beside and then put in place, so that an interrupted build leaves no half one.
 */
export async function build(say: (text: string) => void): Promise<void> {
  const stamp = await contentStamp();
  if ((await readFile(join(target, STAMP), 'utf8').catch(() => '')) === stamp) return;
  say('building the package');
  await removeAbandoned();
  const next = `${target}-${process.pid}`;
  try {
    compile(next);
    await copyAssets(next);
    const { buildBundle }: typeof import('../src/worker/bundle.ts') = await import(pathToFileURL(join(next, 'worker', 'bundle.js')).href);
    await writeFile(join(next, 'workflow-bundle.js'), withoutOwnPlace((await buildBundle()).code, next));
    await writeFile(join(next, STAMP), stamp);
    const before = `${target}-${process.pid}-before`;
    await rename(target, before).catch(() => undefined);
    await rename(next, target);
    await rm(before, { recursive: true, force: true });
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}

function compile(folder: string): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status === 0) return;
  process.stderr.write('trialbed: the package was not built, because of the errors above\n');
  process.exit(1);
}

async function copyAssets(folder: string): Promise<void> {
  for (const file of await filesBelow(source)) {
    const path = relative(source, file);
    if (/\.tsx?$/.test(file) && !path.startsWith(VERBATIM)) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(file, join(folder, path));
  }
}

/** The bundle carries its source map, which names files by where they lie on this machine. A package is the same wherever it was built. */
function withoutOwnPlace(code: string, folder: string): string {
  return code.replace(/(?<=sourceMappingURL=data:application\/json;charset=utf-8;base64,)[\w+/=]+/, (map) => {
    const text = Buffer.from(map, 'base64').toString('utf8');
    return Buffer.from(text.replaceAll(folder, 'trialbed/dist').replaceAll(root, 'trialbed')).toString('base64');
  });
}

async function contentStamp(): Promise<string> {
  const hash = createHash('sha256');
  const others = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', join('scripts', 'build.ts')];
  for (const file of [...(await filesBelow(source)), ...others.map((name) => join(root, name))]) {
    hash
      .update(relative(root, file))
      .update('\0')
      .update(await readFile(file))
      .update('\0');
  }
  return hash.digest('hex');
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What builds left that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = /^dist-(\d+)/.exec(name)?.[1];
    if (pid !== undefined && (await startMark(Number(pid))) === null) await rm(join(root, name), { recursive: true, force: true });
  }
}
