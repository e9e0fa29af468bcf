import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { freePort } from '../../src/infra/ports.ts';
import { provideTemporalCli } from '../../src/infra/temporal-fetch.ts';
import { prepareTemporal } from '../../src/infra/temporal-ready.ts';
import { startTemporalServer, type TemporalServer } from '../../src/infra/temporal-server.ts';
import { readSettings } from '../../src/worker/config.ts';
import { startTestbed } from '../harness/testbed.ts';
import { expectAllCounted, runStruck } from './batch.ts';

test('kill -9 of the Temporal server in the middle of a batch: one verdict for each trial, no world leaks', { timeout: 300_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const { temporalCli, path, cacheFolder } = readSettings(process.env);
  const cli = await provideTemporalCli({ explicit: temporalCli, path, cacheFolder }, () => undefined);
  const start = async (port: number): Promise<TemporalServer> =>
    startTemporalServer({ cli: cli.file, port, uiPort: null, databaseFile: join(folder, 'temporal.db'), logFile: join(folder, 'temporal.log'), cwd: folder });
  const port = await freePort();
  let server = await start(port);
  stack.defer(() => server.stop());
  await prepareTemporal({ address: server.address, namespace: 'default' });
  const testbed = stack.use(await startTestbed({ postgresUrl: inject('services').postgresUrl, temporalAddress: server.address }));

  const request = { suite: 'support-desk', shard: { index: 1, of: 2 }, agents: ['reference'], keep: 'always', concurrency: 6 } as const;
  const struck = await runStruck(testbed, request, 3, async () => {
    process.kill(server.process.pid, 'SIGKILL');
    await server.process.exited;
    server = await start(port);
  });
  expect(struck.trials.length).toBeGreaterThanOrEqual(10);
  await expectAllCounted(testbed, struck);
});
