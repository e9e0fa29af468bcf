import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { until } from '../chaos/until.ts';
import { startTestbed } from '../harness/testbed.ts';
import { blobs } from './core-trials.ts';

it('an attempt that could need more Updates than its run has left begins in a new run of the workflow', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-runs-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const testbed = stack.use(await startTestbed(inject('services'), { worker: false }));
  const suites = stack.use(await blobs(testbed, 'runs'));
  const file = join(folder, 'asked');
  const agent = { kind: 'command', folder: resolve('test/fixtures/agents/programs'), program: 'python3', args: ['rogue.py', 'insatiable', file, '410'] };
  const suite = await suites.write(agent, { budget: { calls: 1_500 } });

  const first = await startTrialWorker(testbed.root);
  const handle = await run(testbed.root, { ...suite, keep: 'never' }, new Promise(() => {}));
  await until('the calls were made', async () => (await readFile(file)) !== null);
  // Lost with its worker, which costs the attempt.
  await first[Symbol.asyncDispose]();
  stack.use(await startTrialWorker(testbed.root));

  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 2, calls: 0 }]);
  const id = trials[0]?.trial ?? '';
  expect(await testbed.root.store.attempts(id)).toMatchObject([
    { ending: 'infra_error', counts: false },
    { ending: 'completed', counts: true },
  ]);
  const { events } = await testbed.root.temporal.workflow.getHandle(id).fetchHistory();
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).toMatch(/./);
}, 180_000);
