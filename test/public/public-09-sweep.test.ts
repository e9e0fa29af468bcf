import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { prepareBatch } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { sweep } from '../../src/client/sweep.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { startTestbed } from '../harness/testbed.ts';
import { writeGateSuite } from '../chaos/gate.ts';
import { until } from '../chaos/until.ts';

const TRIALS = 50;
const TERMINATED = 8;
const CANCELLED = 2;
const LIVE = TRIALS - TERMINATED - CANCELLED;

test('public-09: a worker killed with 50 live trials, 10 of them ended from outside: the sweeper drops the dead ones, and nothing else', {
  timeout: 300_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  // A server of its own: the sweeper looks at all that a server holds, and the others belong to other tests.
  const server = await startEmbeddedPostgres({
    dataFolder: join(folder, 'postgres'),
    port: await freePort(),
    password: 'chaos',
    logFile: join(folder, 'postgres.log'),
    fsync: false,
  });
  stack.defer(() => server.stop());
  const { temporalAddress } = inject('services');
  const { config, root } = stack.use(await startTestbed({ postgresUrl: server.url, temporalAddress }, { worker: false }));
  const admin = new pg.Pool({ connectionString: withDatabase(server.url, 'trialbed_worlds'), max: 2 });
  stack.defer(() => admin.end());
  await admin.query('CREATE SCHEMA test_x; CREATE TABLE test_x.t (a int); CREATE SCHEMA w_foreign; CREATE TABLE w_foreign.t (a int); CREATE ROLE w_foreign');

  const gate = join(folder, 'open');
  const suite = await writeGateSuite(join(folder, 'suite'), gate, ['pass']);
  const doomed = await startWorkerProcess(config);
  const { batch } = await prepareBatch(root, { suite, trials: TRIALS, concurrency: TRIALS, keep: 'never' });
  // Terminated trials report nothing: the batch finds them when it looks.
  const handle = startBatch(root, batch, false, new Promise(() => {}), config.taskQueue, null, { reconcileMs: 2_000 });
  const ended: TrialSummary[] = [];
  const reading = (async () => {
    for await (const event of handle.events()) if (event.type === 'trial') ended.push(event);
  })();
  const prefix = `${handle.id}-`;
  await until('all trials act', async () => (await root.store.trials(handle.id)).every(({ phase }) => phase === 'drive'));
  process.kill(doomed.pid, 'SIGKILL');
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');

  // A dead worker's trials are alive.
  expect(await sweep(root, {})).toMatchObject({ live: TRIALS, swept: [], leaked: 0 });
  expect(await root.worlds.leased(prefix)).toBe(TRIALS);

  await using _survivor = await startTrialWorker(root);
  const ids = (await root.store.trials(handle.id)).map(({ id }) => id);
  const terminated = ids.slice(0, TERMINATED);
  const cancelled = ids.slice(TERMINATED, TERMINATED + CANCELLED);
  for (const id of terminated) await root.temporal.workflow.getHandle(id).terminate('ended by an operator');
  for (const id of cancelled) await root.temporal.workflow.getHandle(id).cancel();
  await until('the ended trials are counted', async () => ended.length === TERMINATED + CANCELLED);
  expect(
    ended
      .filter(({ ending }) => ending === 'cancelled')
      .map(({ trial }) => trial)
      .sort(),
  ).toEqual([...cancelled].sort());
  expect(
    ended
      .filter(({ ending }) => ending === 'infra_error')
      .map(({ trial }) => trial)
      .sort(),
  ).toEqual([...terminated].sort());
  // A cancelled trial gives its world back; a terminated one runs nothing any more.
  expect(await root.worlds.leased(prefix)).toBe(LIVE + TERMINATED);

  const { ever: before, ...planned } = await sweep(root, { dryRun: true });
  const { ever, ...report } = await sweep(root, {});
  expect(report).toEqual(planned);
  expect(ever).toEqual({ ...before, swept: before.swept + report.swept.length });
  expect(report).toMatchObject({ live: LIVE, leaked: 0 });
  expect(report.swept.map(({ owner, reason }) => `${owner} ${reason}`).sort()).toEqual(terminated.map((id) => `${id}.1 workflow_closed`).sort());
  for (const { world } of report.swept) expect(await remains(admin, world)).toEqual([]);
  expect(await sweep(root, {})).toMatchObject({ live: LIVE, swept: [], leaked: 0 });

  await writeFile(gate, '');
  await reading;
  const completed = ended.filter(({ ending }) => ending === 'completed');
  expect(completed).toHaveLength(LIVE);
  expect(completed.filter(({ pass, attempt }) => pass !== 'pass' || attempt !== 1)).toEqual([]);
  expect(await root.worlds.leased(prefix)).toBe(0);
  const last = await sweep(root, {});
  expect(last).toMatchObject({ live: 0, swept: [], leaked: 0 });
  // What is left are the worlds of the pool, whole, and what was never ours.
  const { rows } = await admin.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^w_' UNION ALL SELECT rolname FROM pg_roles WHERE rolname ~ '^w_'",
  );
  const { rows: free } = await admin.query<{ id: string }>("SELECT id FROM trialbed.worlds WHERE state = 'free'");
  expect(free).toHaveLength(last.pooled);
  expect(rows.map(({ name }) => name).sort()).toEqual(['w_foreign', 'w_foreign', ...free.flatMap(({ id }) => [`w_${id}`, `w_${id}`, `w_${id}_sys`])].sort());
  expect((await admin.query("SELECT 1 FROM pg_tables WHERE schemaname IN ('test_x', 'w_foreign')")).rowCount).toBe(2);
});

async function remains(admin: pg.Pool, world: string): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT 'schema ' || nspname AS name FROM pg_namespace WHERE nspname IN ('w_' || $1, 'w_' || $1 || '_sys')
     UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname = 'w_' || $1 UNION ALL SELECT 'row' FROM trialbed.worlds WHERE id = $1`,
    [world],
  );
  return rows.map(({ name }) => name);
}
