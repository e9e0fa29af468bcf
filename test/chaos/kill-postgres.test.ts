import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { run } from '../../src/client/run.ts';
import { sweep } from '../../src/client/sweep.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { freePort } from '../../src/infra/ports.ts';
import { type EmbeddedPostgresServer, startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import type { TrialStatus } from '../../src/workflows/messages.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { expectAllCounted, runStruck } from './batch.ts';
import { writeGateSuite } from './gate.ts';
import { until } from './until.ts';

/** Disposed of even where the preparation failed half-way. */
const stack = new AsyncDisposableStack();
const options = { dataFolder: '', port: 0, password: 'chaos', logFile: '', fsync: false };
let folder: string;
let server: EmbeddedPostgresServer;
let testbed: Testbed;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  Object.assign(options, { dataFolder: join(folder, 'postgres'), logFile: join(folder, 'postgres.log'), port: await freePort() });
  server = await startEmbeddedPostgres(options);
  stack.defer(() => server.stop());
  testbed = stack.use(await startTestbed({ postgresUrl: server.url, temporalAddress: inject('services').temporalAddress }));
});
afterAll(() => stack.disposeAsync());

/** As the supervisor of a home does it: same folder, same port. */
async function killAndRestart(meanwhile: () => Promise<unknown>): Promise<void> {
  await killTree(server.process.pid);
  await server.process.exited;
  await meanwhile();
  server = await startEmbeddedPostgres(options);
}

/** Every world was given back by its trial; those of the pool stay. */
async function expectNothingToSweep(): Promise<void> {
  const { live, swept, leaked } = await sweep(testbed.root, {});
  expect({ live, swept, leaked }).toEqual({ live: 0, swept: [], leaked: 0 });
}

describe('kill -9 of the Postgres that holds store and worlds', () => {
  test('in the middle of a batch: one verdict for each trial, no world leaks', { timeout: 300_000 }, async () => {
    const struck = await runStruck(testbed, { suite: 'support-desk', agents: ['reference'], keep: 'always' }, 6, () => killAndRestart(async () => {}));
    expect(struck.trials.length).toBeGreaterThanOrEqual(20);
    await expectAllCounted(testbed, struck);
    await expectNothingToSweep();
  });

  test('while agents write, mail and open tickets: none is told of the loss, each acts once', { timeout: 300_000 }, async () => {
    const { root } = testbed;
    const gate = join(folder, 'open');
    const suite = await writeGateSuite(join(folder, 'suite'), gate, ['note', 'pass', 'write_mail', 'open_ticket']);
    const handle = await run(root, { suite, keep: 'never' }, new Promise(() => {}));
    const trials = await root.store.trials(handle.id);
    for (const { id } of trials) {
      await until('its tool waits', async () => (await root.temporal.workflow.getHandle(id).query<TrialStatus>('status')).inFlight.length === 1);
    }
    await killAndRestart(async () => {
      await writeFile(gate, '');
      // Time to act, and to meet a server that is away. Were it too short, the operations would not count as disturbed.
      await sleep(2_000);
    });
    const ended: TrialSummary[] = [];
    for await (const event of handle.events()) if (event.type === 'trial') ended.push(event);
    expect(ended.map(({ ending, pass, attempt, disturbed, why }) => ({ ending, pass, attempt, disturbed, why }))).toEqual(
      trials.map(() => ({ ending: 'completed', pass: 'pass', attempt: 1, disturbed: true, why: null })),
    );
    for (const trial of ended) {
      const record = await root.store.record(trial.trial, trial.attempt);
      expect(record?.operations).toMatchObject([{ told: 'committed', known: 'committed', problem: null }]);
      expect(record?.effects).toHaveLength(1);
    }
    expect(await root.worlds.leased(`${handle.id}-`)).toBe(0);
    await expectNothingToSweep();
  });
});

/** Ends a process and its children at once, without a chance to clean up. */
async function killTree(pid: number): Promise<void> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const children = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child ?? 0);
  expect(children.length).toBeGreaterThan(0);
  for (const one of [pid, ...children]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch (error) {
      // A child may see the death of its parent first.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
