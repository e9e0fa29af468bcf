import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { containersOfRegistry } from '../../src/environments/hosts/container.ts';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

// Whole trials whose worlds are not schemas of the shared database, on a server of their own, so that all that is left on it is theirs.

const container = await requireOrSkip('container');
/** Disposed of even where the preparation failed half-way. */
const stack = new AsyncDisposableStack();
let testbed: Testbed;
let admin: pg.Pool;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-isolation-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({
    dataFolder: join(folder, 'postgres'),
    port: await freePort(),
    password: 'isolation',
    logFile: join(folder, 'postgres.log'),
    fsync: false,
  });
  stack.defer(() => server.stop());
  testbed = stack.use(await startTestbed({ postgresUrl: server.url, temporalAddress: inject('services').temporalAddress }));
  admin = new pg.Pool({ connectionString: withDatabase(server.url, 'trialbed_worlds'), max: 2 });
  stack.defer(() => admin.end());
});
afterAll(() => stack.disposeAsync());

/**
 * Databases, schemas, roles and rows of the registry that belong to a world. Without free ones of the pool: a case that is graded by its reference's end state
 * has that played in a schema, whatever the isolation of the trial.
 */
async function remains(): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT 'database ' || datname AS name FROM pg_database WHERE shobj_description(oid, 'pg_database') ~ '^trialbed world' OR datname ~ '^w_'
     UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname ~ '^w_'
     UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname ~ '^w_'
     UNION ALL SELECT 'world ' || id FROM trialbed.worlds`,
  );
  const { rows: pooled } = await admin.query<{ id: string }>("SELECT id FROM trialbed.worlds WHERE state = 'free'");
  return rows.map(({ name }) => name).filter((name) => !pooled.some(({ id }) => name.includes(id)));
}

/** Cases with rows, a mail and tickets among them. */
const CASES = ['refund-within-policy', 'close-with-comment', 'price-question'];

async function passes(isolation: 'database' | 'container'): Promise<void> {
  const { trials, summary } = await testbed.run({ suite: 'support-desk', cases: CASES, agents: ['reference'], isolation, keep: 'always' });
  expect(trials).toHaveLength(CASES.length);
  expect(trials.filter(({ ending, pass, attempt }) => ending !== 'completed' || pass !== 'pass' || attempt !== 1)).toEqual([]);
  expect(summary.worlds).toMatchObject({ made: CASES.length, leaked: 0 });
  const snapshots = await Promise.all(trials.map(({ snapshot }) => testbed.root.store.snapshot(snapshot ?? '')));
  expect(snapshots.map((stored) => (stored?.snapshot as { isolation?: string } | undefined)?.isolation)).toEqual(CASES.map(() => isolation));
  expect(await remains()).toEqual([]);
}

test('trials in databases of their own pass as in schemas, and leave nothing behind', { timeout: 180_000 }, async () => {
  await passes('database');
});

describe.skipIf(!container.met)(skipTitle('trials in containers of their own', container), () => {
  test('pass as in schemas, and leave nothing behind', { timeout: 300_000 }, async () => {
    await passes('container');
    const { rows } = await admin.query<{ value: string }>("SELECT value FROM trialbed.settings WHERE name = 'registry'");
    expect(rows).toHaveLength(1);
    expect(await containersOfRegistry(rows[0]?.value ?? '')).toEqual([]);
  });
});
