import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { run } from '../src/client/run.ts';
import type { TrialSummary } from '../src/domain/trial.ts';
import { acquireServices } from '../src/infra/services.ts';
import { readConfig, readSettings } from '../src/worker/config.ts';
import { createRoot } from '../src/worker/root.ts';
import { startTrialWorker } from '../src/worker/trial-worker.ts';
import { writeOneCaseSuite } from '../test/harness/one-case-suite.ts';

/** Where an agent acts. */
export interface LentDoor {
  readonly mcp: string;
  readonly token: string;
}

/** Runs a trial of the support desk, lends its door to `use`, then lets the trial end. Services are started in a folder of their own and stopped. */
export async function lendTrial<T>(use: (door: LentDoor) => Promise<T>): Promise<{ readonly used: T; readonly trial: TrialSummary | null }> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'trialbed-lent-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const env = { ...process.env, TRIALBED_HOME: home, TRIALBED_POSTGRES: process.env.TRIALBED_POSTGRES ?? 'embedded' };
  const lease = await acquireServices(readSettings(env), { progress: (text) => process.stderr.write(`${text}\n`) });
  stack.defer(() => lease.release());
  const root = stack.use(await createRoot(readConfig(env, lease.endpoints)));
  stack.use(await startTrialWorker(root));

  const { promise: lent, resolve: lend } = Promise.withResolvers<LentDoor>();
  const { promise: used, resolve: done } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void json(request).then(async (start) => {
      lend(start as LentDoor);
      await used;
      response.end('It was used.');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });

  const agent = { kind: 'http', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const suite = await writeOneCaseSuite(home, 'lent', { environment: 'support-desk', agent, kase: { budget: { calls: 1_000, wall: '30m' } } });
  const handle = await run(root, { ...suite, keep: 'never' }, new Promise(() => {}));
  const given = await use(await lent).finally(done);
  let trial: TrialSummary | null = null;
  for await (const event of handle.events()) if (event.type === 'trial') trial = event;
  return { used: given, trial };
}
