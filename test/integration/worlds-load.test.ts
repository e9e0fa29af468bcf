import { cp, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EnvironmentLoadError, loadEnvironment, resolveEnvironment } from '../../src/environments/load.ts';
import { shopSource } from '../fixtures/packs/shop/kit.ts';

const packs = fileURLToPath(new URL('../fixtures/packs/', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-packs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const minimal = (name: string) => `
  import { defineEnvironment } from ${JSON.stringify(fileURLToPath(new URL('../../src/environments/define.ts', import.meta.url)))};
  export default defineEnvironment({ name: '${name}', version: '1', schema: [], seed: [], tools: [], policy: { text: 'Be kind.' } });`;

/** A pack in a folder of its own, as its author has it. */
async function pack(name: string, files: { readonly [file: string]: string }): Promise<string> {
  const at = await mkdtemp(join(folder, `${name}-`));
  for (const [file, text] of Object.entries(files)) await writeFile(join(at, file), text);
  return at;
}

describe('loading a pack', () => {
  test('gives its tools as JSON Schema that takes no unknown arguments, its policy and a generation', async () => {
    const loaded = await loadEnvironment(shopSource({ salt: 's' }));
    expect(loaded.policy).toBe('Be kind.\n');
    expect(loaded.generation).toMatch(/^[0-9a-f]{64}$/);
    expect(loaded.toolSchemas).toMatchObject([
      { name: 'add_note', effect: 'write' },
      { name: 'ask_user', effect: 'read' },
    ]);
    expect(loaded.toolSchemas[0]?.inputSchema).toMatchObject({
      type: 'object',
      required: ['about'],
      additionalProperties: false,
      properties: { about: { type: 'string' }, inner: { additionalProperties: false } },
    });
  });

  test('tells of the key where a tool takes one, and only there', async () => {
    const { toolSchemas } = await loadEnvironment({ file: resolveEnvironment('support-desk', '/'), options: {} });
    const takesKey = (name: string) => Object.hasOwn(toolSchemas.find((tool) => tool.name === name)?.inputSchema['properties'] as object, 'idempotency_key');
    expect(['issue_refund', 'schedule_follow_up', 'send_mail', 'get_order'].map(takesKey)).toEqual([true, true, false, false]);
  });

  test.each([
    ['a file that is not there', {}, {}, /there is no such file/],
    ['a file that cannot be imported', { 'pack.ts': 'const = 1;' }, {}, /cannot be imported/],
    ['another export', { 'pack.ts': 'export default 1;' }, {}, /neither an environment/],
    ['no default export', { 'pack.ts': 'export const pack = 1;' }, {}, /neither an environment/],
    ['a function that makes something else', { 'pack.ts': 'export default () => ({});' }, {}, /does not return an environment/],
    [
      'a function that refuses its options',
      { 'pack.ts': 'export default () => { throw new Error("no such size"); };' },
      { size: 9 },
      /does not accept its options \{"size":9\}: no such size/,
    ],
    ['options that nobody takes', { 'pack.ts': minimal('plain') }, { size: 9 }, /takes no options, and was given size/],
  ])('says what is wrong with %s', async (_what, files, options, message) => {
    const at = await pack('wrong', files);
    const loading = loadEnvironment({ file: join(at, 'pack.ts'), options });
    await expect(loading).rejects.toThrow(EnvironmentLoadError);
    await expect(loading).rejects.toThrow(message);
  });

  test('takes the compiled file where the source is not there', async () => {
    const at = await pack('compiled', { 'pack.js': minimal('compiled') });
    expect((await loadEnvironment({ file: join(at, 'pack.ts'), options: {} })).environment.name).toBe('compiled');
  });

  test('finds built-in environments by name and others by path', async () => {
    const at = await pack('found', { 'pack.ts': minimal('found') });
    expect(resolveEnvironment('support-desk', '/')).toMatch(/src\/environments\/support-desk\/pack\.ts$/);
    expect(resolveEnvironment('.', at)).toBe(join(at, 'pack.ts'));
    expect(resolveEnvironment('./pack.ts', at)).toBe(join(at, 'pack.ts'));
    expect(resolveEnvironment(at, '/')).toBe(join(at, 'pack.ts'));
    expect(() => resolveEnvironment('suport-desk', at)).toThrow(/there are: .*support-desk/);
  });
});

describe('the generation', () => {
  test('is equal wherever the pack lies, and in whatever order its options are', async () => {
    const here = await loadEnvironment(shopSource({ salt: 's' }));
    const elsewhere = join(folder, 'a', 'test', 'fixtures', 'packs');
    await cp(packs, elsewhere, { recursive: true });
    // The copy imports the same sources of ours.
    await symlink(join(dirname(dirname(dirname(packs))), 'src'), join(folder, 'a', 'src'));
    await symlink(join(dirname(dirname(dirname(packs))), 'node_modules'), join(folder, 'a', 'node_modules'));
    const there = await loadEnvironment({ file: join(elsewhere, 'shop', 'pack.ts'), options: { salt: 's' } });
    expect(there.generation).toBe(here.generation);
    expect((await loadEnvironment(shopSource({ salt: 't' }))).generation).not.toBe(here.generation);
  });

  test.each([
    ['a file of the pack', 'data.csv', true],
    ['a file in its suite', 'suite/case.yaml', false],
    ['a hidden file', '.cache', false],
  ])('changes with %s or not', async (_what, file, changes) => {
    const at = await pack('changing', { 'pack.ts': minimal('changing') });
    const source = { file: join(at, 'pack.ts'), options: {} };
    const before = await loadEnvironment(source);
    await cp(join(packs, 'shop', 'seed'), join(at, 'suite'), { recursive: true });
    await writeFile(join(at, file), 'changed');
    const after = await loadEnvironment(source);
    expect(after.generation !== before.generation).toBe(changes);
  });

  test('counts a folder that an option names by what is in it, not by where it lies', async () => {
    const at = await pack('optional', {
      'pack.ts': minimal('optional').replace('export default defineEnvironment(', 'export default (options) => defineEnvironment('),
      'x.txt': 'x',
    });
    const [one, two] = [await pack('data', { 'rows.csv': 'a' }), await pack('data', { 'rows.csv': 'a' })];
    const generation = async (data: string) => (await loadEnvironment({ file: join(at, 'pack.ts'), options: { data } })).generation;
    const first = await generation(one);
    expect(await generation(two)).toBe(first);
    await writeFile(join(two, 'rows.csv'), 'b');
    expect(await generation(two)).not.toBe(first);
  });

  test('is refused when the code changed after it was imported: what runs would not be what it names', async () => {
    const at = await pack('stale', { 'pack.ts': minimal('stale') });
    const source = { file: join(at, 'pack.ts'), options: {} };
    await loadEnvironment(source);
    await writeFile(join(at, 'next.ts'), minimal('stale'));
    await rename(join(at, 'next.ts'), join(at, 'pack.ts'));
    await loadEnvironment(source);
    await writeFile(join(at, 'pack.ts'), minimal('renamed'));
    await expect(loadEnvironment(source)).rejects.toThrow(/has changed since this process imported it/);
  });
});
