import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { defineEnvironment, type Seed } from '../../src/environments/define.ts';
import type { LoadedEnvironment } from '../../src/environments/world.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let folder: string;
afterEach(() => rm(folder, { recursive: true, force: true }));

async function pack(files: { readonly [name: string]: string }): Promise<string> {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'trialbed-pack-')));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** Loads `desk/pack.ts` in a process of its own, from the folder that holds it, and tells how that fails. */
async function loading(files: { readonly [name: string]: string }, options = '{}'): Promise<string> {
  const cwd = await pack(Object.fromEntries(Object.entries(files).map(([name, text]) => [`desk/${name}`, text])));
  const load = new URL('../../src/environments/load.ts', import.meta.url).href;
  const script = `import { loadEnvironment } from ${JSON.stringify(load)};
    await loadEnvironment({ file: process.cwd() + '/desk/pack.ts', options: ${options} }).catch((error) => console.log(error.code, error.message));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' });
  return `${stdout}${stderr}`.trim();
}

const definition = (rest: string): string => `import { defineEnvironment } from 'trialbed/environment';
const at = (name: string) => new URL(name, import.meta.url);
export default defineEnvironment({ name: 'd', version: '1', tools: [], ${rest} });
`;

describe('a pack that cannot be loaded names the place', () => {
  test.each<[string, { readonly [name: string]: string }, string]>([
    ['a syntax error', { 'pack.ts': '\nconst x: number = ;\n' }, 'cannot be imported: desk/pack.ts:2: Expression expected'],
    ['one in a file that it imports', { 'pack.ts': "import './lib/a.ts';\n", 'lib/a.ts': '\n\nenum X { a }\n' }, 'cannot be imported: desk/lib/a.ts:3: '],
    [
      'a file that is not there',
      { 'pack.ts': "\nimport x from './lib/tols.ts';\n", 'lib/tools.ts': '' },
      'cannot be imported: desk/pack.ts:2: there is no file desk/lib/tols.ts (there is desk/lib/tools.ts)',
    ],
    ['a package that is not there', { 'pack.ts': "import x from 'no-such-package';\n" }, 'desk/pack.ts:1: there is no package "no-such-package"'],
    [
      'a name that is not exported',
      { 'pack.ts': "\nimport { y } from './lib.ts';\n", 'lib.ts': 'export const x = 1;\n' },
      "desk/pack.ts:2: The requested module './lib.ts'",
    ],
    ['a throw', { 'pack.ts': 'function f() {\n  throw new Error("boom");\n}\nf();\n' }, 'cannot be imported: desk/pack.ts:2: boom'],
    [
      'a mistake in its function',
      { 'pack.ts': 'export default (o) =>\n  o.data.size.x;\n' },
      'does not accept its options {}: desk/pack.ts:2: Cannot read properties',
    ],
  ])('%s', async (_what, files, expected) => {
    const told = await loading(files);
    expect(told).toMatch(/^environment_load environment desk\/pack\.ts: /);
    expect(told).toContain(expected);
    expect(told).not.toContain('\n');
  });

  test('every file that it names and that is not there, with who names it and the nearest that is', async () => {
    const seed = "[{ csv: at('./data/oders.csv'), table: 'orders' }, { json: at('./dta/items.json'), table: 'items' }, { sql: at('./data') }]";
    const told = await loading({
      'pack.ts': definition(`schema: [at('./schem.sql')], seed: ${seed}, policy: at('./policy.md'), sources: [at('./nowhere')]`),
      'schema.sql': '',
      'data/orders.csv': '',
      'data/items.json': '',
    });
    expect(told).toBe(
      `environment_load environment desk/pack.ts: ${[
        'schema[0] names desk/schem.sql, which is not there (there is desk/schema.sql)',
        'seed[0] of table orders names desk/data/oders.csv, which is not there (there is desk/data/orders.csv)',
        'seed[1] of table items names desk/dta/items.json, which is not there (there is desk/data)',
        'seed[2] names desk/data, which is no file',
        'sources[0] names desk/nowhere, which is not there',
        'policy names desk/policy.md, which is not there',
      ].join('; ')}`,
    );
  });
});

describe('rows that cannot be made name file and line', () => {
  let testbed: Testbed;
  beforeAll(async () => {
    testbed = await startTestbed(inject('services'), { worker: false });
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const SCHEMA = 'CREATE TABLE orders (\n  id int PRIMARY KEY,\n  total numeric NOT NULL CHECK (total > 0),\n  extra jsonb\n);\n';
  const orders = (count: number, wrong: { readonly [at: number]: string } = {}): string =>
    `id,total\n${Array.from({ length: count }, (_, n) => wrong[n + 1] ?? `${n + 1},5`).join('\n')}\n`;

  const building = async (files: { readonly [name: string]: string }, seed: (at: (name: string) => string) => Seed): Promise<string> => {
    const at = await pack({ 'schema.sql': SCHEMA, ...files });
    const inPack = (name: string): string => join(at, name);
    const environment = defineEnvironment({ name: 'd', version: '1', schema: [inPack('schema.sql')], seed: [seed(inPack)], tools: [] });
    const loaded: LoadedEnvironment = { environment, source: { file: inPack('pack.ts'), options: {} }, generation: at, policy: null, toolSchemas: [] };
    const kase = { clock: '2026-01-01T00:00:00Z', timezone: 'UTC', state: [] };
    const made = testbed.root.worlds.provision(loaded, { owner: at, workflowId: at, isolation: 'schema', leaseMs: 60_000, kase });
    return await made.then(
      () => 'made',
      (error: { code: string; message: string }) => `${error.code} ${error.message.replaceAll(`${at}/`, '')}`,
    );
  };
  const csv = (text: string): Promise<string> => building({ 'orders.csv': text }, (at) => ({ csv: at('orders.csv'), table: 'orders' }));
  const json = (text: string): Promise<string> => building({ 'orders.json': text }, (at) => ({ json: at('orders.json'), table: 'orders' }));

  test('of a CSV file', async () => {
    expect(await csv(orders(2500))).toBe('made');
    expect(await csv(orders(2500, { 1777: '1777,much' }))).toBe(
      'world_build seed orders.csv:1778, table orders: invalid input syntax for type numeric: "much"',
    );
    expect(await csv(orders(30, { 7: '7,-1', 20: '20,-1' }))).toMatch(/^world_build seed orders\.csv:8, table orders: .*check constraint/);
    expect(await csv(orders(1500, { 1400: '3,5' }))).toMatch(
      /^world_build seed orders\.csv:1401, table orders: duplicate key .* \(Key \(id\)=\(3\) already exists\)$/,
    );
    expect(await csv('id,total\n1,5\n\n2,"5\n')).toMatch(/^world_build seed orders\.csv:\d: /);
    expect(await csv('id,total\n1,5\n2,5,6\n')).toMatch(/^world_build seed orders\.csv:3: Invalid Record Length/);
    expect(await csv('id,total,extra\n1,5,{}\n2,5,{a\n')).toBe('world_build seed orders.csv:3: column extra holds text that is not JSON');
    expect(await csv('id,totl\n1,5\n')).toBe('world_build seed orders.csv: table orders has no column totl that can be written (there are: id, total, extra)');
  });

  test('of a JSON file, by row or by line', async () => {
    expect(await json('[{"id": 1, "total": 5}, {"id": 2, "total": "x"}]')).toMatch(/^world_build seed orders\.json, row 2, table orders: invalid input/);
    expect(await json('[{"id": 1, "total": 5},\n {"id" 2}]')).toMatch(/^world_build seed orders\.json:2: not JSON: /);
  });

  test('of a seed in SQL', async () => {
    expect(await building({ 's.sql': '\nINSERT INTO orders VALUES (1, 5);\nINSERT INTO ordrs VALUES (1);\n' }, (at) => ({ sql: at('s.sql') }))).toBe(
      'world_build seed s.sql:3: relation "ordrs" does not exist',
    );
  });
});
