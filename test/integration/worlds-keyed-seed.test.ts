import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadEnvironment } from '../../src/environments/load.ts';
import type { Worlds } from '../../src/environments/world.ts';
import { createWorlds } from '../../src/environments/worlds/worlds.ts';

const define = fileURLToPath(new URL('../../src/environments/define.ts', import.meta.url));

describe('a seed of rows by key', () => {
  let folder: string;
  let worlds: Worlds;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-keyed-'));
    worlds = await createWorlds({
      hosts: [{ name: 'test', kind: 'external', adminUrl: inject('services').postgresUrl }],
      connections: 2,
      failpoint: () => undefined,
      image: 'postgres:18',
    });
  });

  afterAll(async () => {
    await worlds?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  let made = 0;
  /** The rows of a world of this seed, as JSON text. */
  const rowsOf = async (seed: string): Promise<readonly string[]> => {
    made += 1;
    const at = await mkdtemp(join(folder, 'pack-'));
    await writeFile(join(at, 'schema.sql'), `create table things (id int primary key, size text default 'none', parts json);`);
    await writeFile(join(at, 'things.json'), seed);
    const entry = `{ json: ${JSON.stringify(join(at, 'things.json'))}, table: 'things', key: 'id' }`;
    await writeFile(
      join(at, 'pack.ts'),
      `import { defineEnvironment } from ${JSON.stringify(define)};
       export default defineEnvironment({ name: 'keyed', version: '1', schema: [new URL('./schema.sql', import.meta.url)], seed: [${entry}], tools: [] });`,
    );
    const environment = await loadEnvironment({ file: join(at, 'pack.ts'), options: {} });
    const owner = `keyed-${process.pid}-${made}`;
    const kase = { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] };
    const ref = await worlds.provision(environment, { owner, workflowId: owner, isolation: 'schema', leaseMs: 60_000, kase });
    const world = await worlds.open(ref);
    await world.ledger.propose({ id: 'op-1', tool: 'look', args: {}, idempotencyKey: null, refusal: null });
    const rows = await world.transact({ id: 'op-1', attempt: 1 }, async (sql) => {
      const value = await sql.query<{ row: string }>('select row_to_json(t)::text as row from things t order by id');
      return { value, result: null };
    });
    await world.fence({ drainMs: 1_000 });
    await world.release({ reuse: false });
    return rows.map(({ row }) => row);
  };

  it('keeps the text of JSON columns as the file has it, and gives what a row does not name its default', async () => {
    expect(await rowsOf('{"10": {"parts": {"9": 1.50, "b": [1,  2], "1": null}}, "9": {"size": "big", "id": 9}}')).toEqual([
      '{"id":9,"size":"big","parts":null}',
      '{"id":10,"size":"none","parts":{"9": 1.50, "b": [1,  2], "1": null}}',
    ]);
  });

  it('may be empty', async () => {
    expect(await rowsOf('{}')).toEqual([]);
  });

  it.each([
    ['a list', '[{"id": 1}]', /things\.json must hold one object of rows, since id is named as their key/],
    ['a row that is none', '{"1": 5}', /member 1 must be an object/],
    ['a row with another key', '{"1": {"id": 2}}', /member 1: its id is 2, and must be as the member's name/],
    ['a column that is not there', '{"1": {"weight": 2}}', /table things has no column weight/],
    ['a key that the column does not take', '{"one": {}}', /seed \/.*\/things\.json, member one, table things: .*integer/],
    ['a key that is there twice', '{"1": {}, "1": {}}', /things\.json, member 1, table things: duplicate key .*Key \(id\)=\(1\) already exists/],
    ['no JSON, with its line', '{"1": {},\n "2": {"size" 1}}', /things\.json:2: not JSON: /],
    ['no JSON', '{"1": ', /things\.json: not JSON: /],
  ])('refuses %s', async (_, seed, message) => {
    await expect(rowsOf(seed)).rejects.toThrow(message);
  });
});
