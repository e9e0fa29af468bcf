import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { blobs } from '../integration/core-trials.ts';
import { calls, says, startProvider } from '../harness/provider.ts';
import { startTestbed } from '../harness/testbed.ts';

it.concurrent.each([
  ['model_replied_before_reported', 1],
  ['model_replied_before_reported', 2],
  ['committed_before_reply', 1],
] as const)(
  'kill -9 of the worker at %s, hit %i: the conversation goes on where it was, and nothing is asked or done twice',
  async (name, hit) => {
    await using provider = await startProvider((_request, number) =>
      number === 1 ? calls(['add_note', { body: 'one' }], ['read_text', { bytes: 4 }]) : says('Done.'),
    );
    await using testbed = await startTestbed(inject('services'), { worker: false });
    const { config, root } = testbed;
    await using suites = await blobs(testbed, 'kill-model');
    const kase = { expects_nothing: false, expect: { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert', where: { body: 'one' } }] }] } };
    const request = await suites.write({ kind: 'model', route: { url: provider.url, model: 'tiny' } }, kase);
    const doomed = await startWorkerProcess({ ...config, failpoints: [{ name, hit }] });
    const handle = await run(root, request, new Promise(() => {}));
    await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
    await using _survivor = await startTrialWorker(root);
    const trials: TrialSummary[] = [];
    for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
    expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt: 1, calls: 2 }]);
    expect(provider.requests).toHaveLength(2);
    const { trial = '' } = trials[0] ?? {};
    expect((await root.store.modelCalls(trial, 1)).map(({ id, usage }) => [id, usage?.input])).toEqual([
      ['agent-1', 100],
      ['agent-2', 100],
    ]);
    expect((await root.store.conversation(trial, 1)).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'assistant']);
  },
  90_000,
);
