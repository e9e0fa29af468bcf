import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { trialbedOver } from '../../src/client/index.ts';
import { run } from '../../src/client/run.ts';
import type { BatchWhy, TrialWhy, WhyCause } from '../../src/domain/why.ts';
import { freePort } from '../../src/infra/ports.ts';
import { provideTemporalCli } from '../../src/infra/temporal-fetch.ts';
import { prepareTemporal } from '../../src/infra/temporal-ready.ts';
import { startTemporalServer, type TemporalServer } from '../../src/infra/temporal-server.ts';
import { readSettings } from '../../src/worker/config.ts';
import { until } from '../chaos/until.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';

test('what a trial waits for is told while its Temporal server is gone, and as before once another has taken its place', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-restarted-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const { temporalCli, path, cacheFolder } = readSettings(process.env);
  const cli = await provideTemporalCli({ explicit: temporalCli, path, cacheFolder }, () => undefined);
  const port = await freePort();
  const start = (): Promise<TemporalServer> =>
    startTemporalServer({ cli: cli.file, port, uiPort: null, databaseFile: join(folder, 'temporal.db'), logFile: join(folder, 'temporal.log'), cwd: folder });
  let server = await start();
  stack.defer(() => server.stop());
  await prepareTemporal({ address: server.address, namespace: 'default' });
  const testbed = stack.use(await startTestbed({ postgresUrl: inject('services').postgresUrl, temporalAddress: server.address }));
  const client = trialbedOver(testbed.root, async () => {});
  const named = <T extends TrialWhy | BatchWhy>(id: string, cause: WhyCause): Promise<T> =>
    until(`${id} is said to wait for ${cause}`, async () => {
      const why = await client.why(id);
      if (why.cause !== cause) throw new Error(`${why.cause}: ${why.sentence}`);
      return why as T;
    });

  const kase = { user: { name: 'mara', role: 'agent', approval: [{ tool: 'issue_refund' }] }, approver: 'deny' };
  const agent = { kind: 'script', steps: [{ call: 'issue_refund', with: { order_id: 5003, amount: 60, reason: 'damaged' } }], answer: 'Done.' };
  const request = { ...(await writeOneCaseSuite(folder, 'restarted', { environment: 'support-desk', agent, kase })), keep: 'never', human: true } as const;
  const handle = await run(testbed.root, request, new Promise(() => {}));
  const [trial] = await testbed.root.store.trials(handle.id);
  const id = trial?.id ?? '';
  const before = await named<TrialWhy>(id, 'approval');
  expect(before.evidence[0]).toMatchObject({ kind: 'approval', request: `${id}.1.op-1` });

  process.kill(server.process.pid, 'SIGKILL');
  await server.process.exited;
  const away = await named<TrialWhy>(id, 'infrastructure');
  expect(away).toMatchObject({ phase: 'drive', temporalProblem: expect.any(String) });
  expect(away.sentence).toMatch(/by the store, attempt 1 was in phase drive and waited for an approval/);
  expect((await named<BatchWhy>(handle.id, 'infrastructure')).groups).toMatchObject([{ cause: 'infrastructure', trials: 1 }]);

  server = await start();
  const after = await named<TrialWhy>(id, 'approval');
  expect(after).toMatchObject({ temporalProblem: null, phase: before.phase, attempt: before.attempt, next: before.next });
  expect(after.evidence[0]).toMatchObject({ kind: 'approval', request: `${id}.1.op-1`, tool: 'issue_refund' });
  expect((await named<BatchWhy>(handle.id, 'approval')).groups).toMatchObject([{ cause: 'approval', trials: 1 }]);
  // It is the same trial, and goes on.
  expect(await client.decide(`${id}.1.op-1`, { approved: true, by: 'petra' })).toMatchObject({ told: { state: 'committed' } });
  await handle.result();
  await named<TrialWhy>(id, 'done');
});
