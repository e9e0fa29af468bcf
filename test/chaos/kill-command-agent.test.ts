import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { endLeftover, startMark } from '../../src/infra/process.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';
import { until } from './until.ts';

it('kill -9 of the worker while a program acts: its processes end, the attempt is no result, the next one passes', async () => {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const { config, root } = stack.use(await startTestbed(inject('services'), { worker: false, config: { home } }));
  const file = join(home, 'pids.json');
  const agent = { kind: 'command', folder: resolve('test/fixtures/agents/programs'), program: 'python3', args: ['stays.py', file] };
  const suite = await writeOneCaseSuite(home, 'stays', { environment: 'support-desk', agent });
  const doomed = await startWorkerProcess(config);
  const handle = await run(root, { ...suite, keep: 'never' }, new Promise(() => {}));
  const pids = await until('the program acts', async () => JSON.parse(await readFile(file, 'utf8')) as number[]);
  for (const pid of pids) {
    const mark = await startMark(pid);
    expect(mark).not.toBeNull();
    // What this test finds must not outlive it.
    stack.defer(() => void endLeftover(pid, mark ?? '', [], 1_000));
  }
  process.kill(doomed.pid, 'SIGKILL');
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(root);
  for (const pid of pids) await until(`process ${pid} has ended`, async () => (await startMark(pid)) === null);

  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt: 2 }]);
  expect(await root.store.attempts(trials[0]?.trial ?? '')).toMatchObject([
    { ending: 'infra_error', counts: false },
    { ending: 'completed', counts: true },
  ]);
}, 180_000);
