import { lstat, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipTitle } from '../harness/requirements.ts';
import { jsonLines } from './cli-process.ts';
import { filesBelow, olderNode, packInto, type ProgramEnd, ROOT, UserFolder } from './package-place.ts';

const older = olderNode();
const MINUTES = 60_000;

describe('the package, installed from its archive in an empty folder', { timeout: 5 * MINUTES }, () => {
  let place: UserFolder;
  let packed: Awaited<ReturnType<typeof packInto>>;

  beforeAll(async () => {
    place = await UserFolder.make();
    packed = await packInto(join(place.path, 'archive'));
    process.stdout.write(
      `${packed.file.split('/').at(-1)}: ${kilobytes(packed.size)} packed, ${kilobytes(packed.unpacked)} unpacked, ${packed.files.length} files\n`,
    );
    await writeFile(join(place.path, 'package.json'), '{ "private": true, "type": "module" }\n');
    await install(packed.file);
  }, 10 * MINUTES);
  afterAll(async () => {
    expect(await place.processes()).toEqual([]);
    await place[Symbol.asyncDispose]();
  });

  /** From npm's cache where it has them. */
  async function install(...packages: string[]): Promise<void> {
    const done = await place.run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...packages]);
    if (done.code !== 0) throw new Error(`npm install failed:\n${done.stderr}`);
  }

  /** With Node 24 and the installed commands on PATH, as in an npm script. */
  function trialbed(...args: string[]): Promise<ProgramEnd> {
    return place.run('trialbed', args, { first: [join(process.execPath, '..'), place.bin] });
  }

  test('it holds what runs, and no tests, sources, data sets or source maps', () => {
    const outside = packed.files.filter((file) => !/^(dist|docs|examples)\//.test(file));
    expect(outside).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'bin/trialbed.js', 'package.json']);
    const kinds = new Set(packed.files.map((file) => /(\.d\.ts|\.[a-z]+)$/.exec(file)?.[1] ?? file));
    expect([...kinds].sort()).toEqual(
      [
        '.css',
        '.csv',
        '.d.ts',
        '.html',
        '.js',
        '.json',
        '.md',
        '.png',
        '.py',
        '.sh',
        '.sql',
        '.svg',
        '.template',
        '.ts',
        '.txt',
        '.yaml',
        'LICENSE',
        'dist/init/template/gitignore',
      ].sort(),
    );
    // TypeScript as it was written: only what `init` hands to users.
    const typescript = packed.files.filter((file) => /(?<!\.d)\.ts$/.test(file));
    expect(typescript.filter((file) => !file.startsWith('examples/'))).toEqual([
      'dist/init/template/environment/pack.ts',
      'dist/init/template/suite/agents/planner.ts',
    ]);
    expect(packed.files.filter((file) => /(^|\/)(test|tests|fixtures|datasets|bench|node_modules|\.trialbed)\//.test(file))).toEqual([]);
    expect(packed.files.filter((file) => file.includes('support-desk/suite/cases/')).length).toBeGreaterThanOrEqual(16);
    expect(packed.size).toBeLessThan(2_500_000);
  });

  test('every relative link of a page in it leads to a file that is in it', async () => {
    const folder = join(place.path, 'node_modules', 'trialbed');
    const there = await filesBelow(folder);
    const pages = there.filter((file) => /^(README|CHANGELOG|docs\/.*|examples\/.*)\.md$/.test(file));
    expect(pages).toContain('docs/how-to/operating.md');
    const dead: string[] = [];
    for (const page of pages) {
      const prose = (await readFile(join(folder, page), 'utf8')).replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
      for (const [, target = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^([a-z]+:|#)/.test(target)) continue;
        const file = join(dirname(page), target.split('#')[0] ?? '').replace(/\/$/, '');
        if (!there.some((one) => one === file || one.startsWith(`${file}/`))) dead.push(`${page}: ${target}`);
      }
    }
    expect(dead).toEqual([]);
  });

  test('no file of it names a place of the machine that built it', async () => {
    const folder = join(place.path, 'node_modules', 'trialbed');
    expect((await filesBelow(folder)).length).toBe(packed.files.length);
    const naming: string[] = [];
    for (const file of await filesBelow(folder)) {
      const text = await readFile(join(folder, file), 'utf8');
      // A bundle's source map is in it as base64.
      const maps = [...text.matchAll(/sourceMappingURL=data:[^,]*base64,([\w+/=]+)/g)].map(([, map = '']) => Buffer.from(map, 'base64').toString('utf8'));
      if ([text, ...maps].some((part) => part.includes(ROOT) || part.includes(ROOT.slice(0, -1)))) naming.push(file);
    }
    expect(naming).toEqual([]);
  });

  test('every import of a file of its own names a file that is in it', async () => {
    const folder = join(place.path, 'node_modules', 'trialbed');
    const there = new Set(await filesBelow(folder));
    const imports = new Map<string, string[]>();
    for (const file of there) {
      if (!file.endsWith('.js')) continue;
      const text = await readFile(join(folder, file), 'utf8');
      const named = [
        ...text.matchAll(
          /^(?:import|export)\b[^;'"]*?\bfrom ['"](\.[^'"]+)['"]|^import ['"](\.[^'"]+)['"]|^(?! *(?:\/\/|\*|\/\*)).*?\bimport\(['"](\.[^'"]+)['"]\)/gm,
        ),
      ];
      imports.set(
        file,
        named.map(([, ...places]) => join(dirname(file), places.find((place) => place !== undefined) ?? '')),
      );
    }
    // A dynamic import, so that the pattern is seen to find those.
    expect(imports.get('dist/cli/commands/worker.js')).toContain('dist/client/index.js');
    const missing = [...imports].flatMap(([file, named]) => named.filter((name) => !there.has(name)).map((name) => `${file}: ${name}`));
    expect(missing).toEqual([]);
  });

  describe.skipIf(!older.met)(skipTitle('on an older Node', older), () => {
    test('without the npm package "node": what is needed, and how to get it', async () => {
      const ended = await place.run(older.file, [join(place.bin, 'trialbed'), 'run', 'support-desk']);
      expect(ended.code).toBe(2);
      expect(ended.stdout).toBe('');
      expect(ended.stderr).toMatch(/^error: trialbed needs Node 24 or newer, and this is v2\d\.[\d.]+\. Nothing was started\.$/m);
      expect(ended.stderr).toContain('npm install --save-dev node@24');
      const installed = await lstat(join(place.path, 'node_modules', 'node')).catch(() => null);
      expect(installed, 'an optional peer is not installed by itself').toBeNull();
    });

    test('with it: npx and the command alone go on with Node 24', async () => {
      await install('--save-dev', 'node@24');
      const help = await place.run('npx', ['trialbed', '--help']);
      expect(help.stderr).toBe('');
      expect(help.stdout).toContain('Usage: trialbed');
      expect(help.code).toBe(0);
      const direct = await place.run(older.file, [join(place.bin, 'trialbed'), 'run', 'no-such-suite']);
      expect(direct.stderr).toContain('no-such-suite');
      expect(direct.code).toBe(2);
    });
  });

  test('a run of the support desk, with services of its own, prints lines of JSON and nothing else', async () => {
    const ran = await trialbed('run', 'support-desk', '--agent', 'reference', '--case', 'refund-*', '--json');
    expect(ran.stderr).not.toContain('error');
    const lines = jsonLines(ran.stdout);
    const trials = lines.slice(0, -1);
    expect(trials.map((line) => line['case']).sort()).toEqual(['refund-approval-granted', 'refund-needs-approval', 'refund-within-policy']);
    for (const line of trials) {
      expect(line).toMatchObject({ type: 'trial', agent: 'reference', schedule: 'none', repetition: 1, attempt: 1, ending: 'completed' });
      expect([line['pass'], line['outcome'], line['constraints'], line['effects']]).toEqual(['pass', 'pass', 'pass', 'pass']);
    }
    expect(lines.at(-1)).toMatchObject({ type: 'summary', suite: 'support-desk', trials: 3, passed: 3, failed: 0, infraErrors: 0, gate: 'met' });
    expect(ran.code).toBe(0);
    expect(await place.processes()).toEqual([]);
  });

  test('a file that imports all three entries type-checks against the shipped types, and runs', async () => {
    await writeFile(join(place.path, 'check.ts'), CHECK);
    await writeFile(join(place.path, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ['check.ts'] }));
    const checked = await place.run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.']);
    expect(checked.stdout).toBe('');
    expect(checked.code).toBe(0);
    const ran = await place.run(process.execPath, ['check.ts']);
    expect(ran.stderr).toBe('');
    expect(jsonLines(ran.stdout)).toEqual([{ suite: 'support-desk', trials: 3, passed: 3, tools: ['ping', 'ask_user'], transition: 'committed' }]);
  });

  test('init there, then run', async () => {
    expect((await trialbed('init', 'rooms')).code).toBe(0);
    const ran = await place.run('trialbed', ['run', './suite', '--json'], {
      first: [join(process.execPath, '..'), place.bin],
      cwd: join(place.path, 'rooms'),
    });
    expect(ran.stderr).not.toContain('error');
    expect(jsonLines(ran.stdout).map((line) => line['pass'])).toEqual(['pass', 'pass', undefined]);
    expect(ran.code).toBe(0);
    expect(await place.processes()).toEqual([]);
  });
});

/** As strict as they come. The libraries' own declarations are not ours to check. */
const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable', 'dom'],
  module: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  erasableSyntaxOnly: true,
  noEmit: true,
  skipLibCheck: true,
};

/** Each expected error shows that a type is there: of `any`, none would be reported, and the check would fail. */
const CHECK = `
import { type BatchEvent, connect, NotFoundError } from 'trialbed';
import { defineEnvironment, defineTool, type ModuleAgent, ToolFailure } from 'trialbed/environment';
import { classifyFailure, IllegalTransitionError, transition } from 'trialbed/operations';
import { z } from 'zod';

const ping = defineTool({
  name: 'ping',
  description: 'Answers.',
  input: z.strictObject({ text: z.string() }),
  result: z.object({ length: z.int() }),
  effect: 'read',
  async run({ text }, { db, now }) {
    // @ts-expect-error text is a text
    const wrong: number = text;
    const rows = await db.query<{ n: number }>('select 1 as n');
    if (rows.length === 0) throw new ToolFailure('empty', now.toISOString());
    return { length: text.length + Number(wrong ?? 0) };
  },
});
// @ts-expect-error a tool has one of three effects
export const badEffect = defineTool({ ...{ name: 'x', description: '', input: z.object({}), result: z.object({}), run: async () => ({}) }, effect: 'reads' });

const environment = defineEnvironment({ name: 'check', version: '1', schema: [], seed: [], tools: [ping] });
export const agent: ModuleAgent = async (session) => {
  const called = await session.call('ping', { text: 'x' });
  // @ts-expect-error no such state
  if (called.state === 'ok') return undefined;
  return { text: called.state };
};
export const seen = (event: BatchEvent): string => (event.type === 'trial' ? event.case : event.type);
export const classified = classifyFailure;

await using bed = await connect({ home: '.trialbed' });
const [batch] = await bed.batches({ limit: 1 });
if (!batch) throw new NotFoundError('no batch');
// @ts-expect-error the id is a text
const number: number = batch.id;
const { summary } = await bed.results(String(number));
let state = transition('proposed', 'dispatched');
state = transition(state, 'committed');
try {
  transition('committed', 'dispatched');
} catch (error) {
  if (!(error instanceof IllegalTransitionError)) throw error;
}
console.log(JSON.stringify({ suite: batch.suite, trials: summary.trials, passed: summary.passed, tools: environment.tools.map((tool) => tool.name), transition: state }));
`;

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`;
}
