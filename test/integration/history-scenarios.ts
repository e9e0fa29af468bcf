import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { inject } from 'vitest';
import { decide } from '../../src/client/approvals.ts';
import { prepareBatch, run } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { calls, says, startProvider } from '../harness/provider.ts';
import { writeTeamSuite } from '../harness/team-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type BatchSettings, concurrencyUpdate, pauseUpdate, resumeUpdate, windowId } from '../../src/workflows/batch-messages.ts';
import { acting, blobs, moduleAgent } from './core-trials.ts';

/** A trial of a kind whose history is of its own shape, run to its end and handed over while its server still has the history. */
export interface HistoryScenario {
  readonly name: string;
  readonly run: (use: (testbed: Testbed, trial: TrialSummary) => Promise<void>) => Promise<void>;
}

const read = { tool: 'read_text', args: { bytes: 100 } };
const slow = { tool: 'slow_read', args: {} };
/** A case in which every note needs an approval. */
const ASKS = { user: { name: 'mara', role: 'agent', approval: 'required' } };
const write = (body: string) => ({ tool: 'add_note', args: { body } });

/** One for each way in which a trial can go; the name is the beginning of the saved file's. */
export const HISTORY_SCENARIOS: readonly HistoryScenario[] = [
  { name: 'reference', run: (use) => deskTrial('reference', use) },
  { name: 'hasty', run: (use) => deskTrial('hasty', use) },
  {
    name: 'parallel',
    run: (use) => blobTrial(moduleAgent('calls.ts', { together: true, calls: [slow, write('a'), read, write('b'), slow, write('c')] }), {}, use),
  },
  {
    name: 'refused',
    run: (use) =>
      blobTrial(
        moduleAgent('calls.ts', {
          calls: [{ tool: 'no_such_tool', args: {} }, { tool: 'add_note', args: { text: 1 } }, slow, read, { tool: 'refuse', args: { length: 5 } }],
        }),
        { user: { name: 'mara', role: 'agent', tools: ['add_note', 'read_text', 'refuse'] } },
        use,
      ),
  },
  {
    name: 'timeout',
    run: (use) => blobTrial(moduleAgent('tells-problems.ts', { calls: [write('a')], stays: true }), { budget: { wall: '2s' } }, use),
  },
  {
    name: 'approval',
    run: (use) =>
      blobTrial(
        moduleAgent('calls.ts', { together: true, calls: [write('a'), read, write('b')] }),
        { ...ASKS, approver: { decides: 'deny', after: '5s' } },
        use,
      ),
  },
  {
    name: 'decided',
    async run(use) {
      await using testbed = await startTestbed(inject('services'));
      await using suites = await blobs(testbed, 'history');
      const request = await suites.write(moduleAgent('calls.ts', { calls: [write('a'), write('b')] }), ASKS);
      const handle = await run(testbed.root, { ...request, keep: 'never', human: true }, new Promise(() => {}));
      for await (const event of handle.events()) {
        if (event.type === 'trial') await use(testbed, event);
        if (event.type !== 'approval') continue;
        const { id, trial, operation, approval } = event.asked;
        if (operation === 'op-1') await decide(testbed.root, id, { approved: true, by: 'petra' });
        else await testbed.root.temporal.workflow.getHandle(trial).signal('deny', { operation, digest: approval.digest, by: 'petra' });
      }
    },
  },
  {
    name: 'cancelled',
    async run(use) {
      await using testbed = await startTestbed(inject('services'));
      await using suites = await blobs(testbed, 'history');
      const running = suites.run(moduleAgent('calls.ts', { calls: [{ tool: 'wait', args: { ms: 60_000 } }] }), { budget: { wall: '60s' } });
      await testbed.root.temporal.workflow.getHandle(await acting(testbed.root, 1)).cancel();
      await use(testbed, await running);
    },
  },
  {
    name: 'killed',
    async run(use) {
      await using testbed = await startTestbed(inject('services'), { worker: false });
      const { config, root } = testbed;
      const doomed = await startWorkerProcess({ ...config, failpoints: [{ name: 'tool_wrote_before_commit', hit: 4 }] });
      const handle = await run(root, { suite: 'support-desk', cases: ['refund-within-policy'], agents: ['reference'], keep: 'never' }, new Promise(() => {}));
      await doomed.broken.catch(() => {});
      await using _survivor = await startTrialWorker(root);
      for await (const event of handle.events()) if (event.type === 'trial') await use(testbed, event);
    },
  },
  {
    name: 'team',
    async run(use) {
      await using provider = await startProvider((_request, number) =>
        number === 1 ? calls(['add_note', { body: 'a' }], ['hand_over', { to: 'module', text: 'Yours.' }]) : says('Done.'),
      );
      await using testbed = await startTestbed(inject('services'));
      const folder = await mkdtemp(join(tmpdir(), 'trialbed-history-'));
      const members = {
        model: [{ kind: 'model', route: { url: provider.url, model: 'tiny' } }],
        module: [moduleAgent('team/passes-on.ts', { to: 'script' })],
        script: [{ kind: 'script', steps: [{ call: 'hand_over', with: { to: 'model', text: 'Yours.' } }], answer: 'Never said.' }],
      } as const;
      const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: 'history' } };
      const { trials } = await testbed.run({ ...(await writeTeamSuite(folder, 'team', { environment, members })), keep: 'never' });
      await rm(folder, { recursive: true });
      for (const trial of trials) await use(testbed, trial);
    },
  },
  {
    name: 'model',
    async run(use) {
      await using provider = await startProvider((_request, number) =>
        number === 1 ? calls(['read_text', { bytes: 100 }], ['add_note', { body: 'a' }]) : says('Done.'),
      );
      const route = { url: provider.url, model: 'tiny', prices: { input: 1, output: 10 } };
      await blobTrial({ kind: 'model', prompt: 'Be brief.', route }, {}, use);
    },
  },
  // A further window, which takes trials from the manifest of its batch.
  { name: 'window', run: (use) => batchOf(4, { windowSize: 2 }, (testbed, last) => use(testbed, { ...last, trial: windowId(last.trial, 1) })) },
  // The last run of one that continued as new and had a further window.
  { name: 'continued', run: (use) => batchOf(3, { endsPerRun: 2, windowSize: 2 }, use) },
  // Paused, given more room and resumed while it runs.
  {
    name: 'steered',
    run: (use) =>
      batchOf(2, {}, use, async (batch) => {
        await batch.executeUpdate(pauseUpdate);
        await batch.executeUpdate(concurrencyUpdate, { args: [3] });
        await batch.executeUpdate(resumeUpdate);
      }),
  },
];

/** A batch, in place of a trial. `steer`: once its first trial has ended. */
async function batchOf(
  concurrency: number,
  settings: Partial<BatchSettings>,
  use: Parameters<HistoryScenario['run']>[0],
  steer?: (batch: WorkflowHandle) => Promise<void>,
): Promise<void> {
  await using testbed = await startTestbed(inject('services'));
  await using suites = await blobs(testbed, 'history');
  const { root } = testbed;
  const request = await suites.write({ kind: 'script', steps: [{ call: 'wait', with: { ms: 300 } }], answer: 'Done.' });
  const { batch } = await prepareBatch(root, { ...request, trials: 8, concurrency, keep: 'never' });
  const handle = startBatch(root, batch, false, new Promise(() => {}), root.config.taskQueue, null, settings);
  let last: TrialSummary | null = null;
  for await (const event of handle.events()) {
    if (event.type !== 'trial') continue;
    if (last === null) await steer?.(root.temporal.workflow.getHandle(batch.id));
    last = event;
  }
  await handle.result();
  if (last) await use(testbed, { ...last, trial: batch.id });
}

async function deskTrial(agent: string, use: Parameters<HistoryScenario['run']>[0]): Promise<void> {
  await using testbed = await startTestbed(inject('services'));
  const { trials } = await testbed.run({ suite: 'support-desk', cases: ['refund-within-policy'], agents: [agent], keep: 'never' });
  for (const trial of trials) await use(testbed, trial);
}

async function blobTrial(
  agent: ReturnType<typeof moduleAgent>,
  kase: Parameters<Awaited<ReturnType<typeof blobs>>['run']>[1],
  use: Parameters<HistoryScenario['run']>[0],
): Promise<void> {
  await using testbed = await startTestbed(inject('services'));
  await using suites = await blobs(testbed, 'history');
  await use(testbed, await suites.run(agent, kase));
}
