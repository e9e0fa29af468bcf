import { describe, expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { startTestbed } from '../harness/testbed.ts';
import { acting, blobs, moduleAgent } from './core-trials.ts';

const script = (ms: number) => ({ kind: 'script', steps: [{ call: 'wait', with: { ms }, as: 'w' }], answer: '${w!state}' });

const WAITS = [1, 2, 3].map(() => ({ tool: 'wait', args: { ms: 60_000 } }));

describe('a trial that is cancelled', () => {
  it.each([
    ['while its agent thinks', moduleAgent('hangs.ts'), 0],
    ['while a call of its script is in flight', script(60_000), 1],
    ['while a call of its agent is in flight', moduleAgent('calls.ts', { calls: [{ tool: 'wait', args: { ms: 60_000 } }] }), 1],
    // Every call is answered by the cancellation at once: the agent may be done before it is stopped, and has no result all the same.
    ['while several calls of its agent are in flight', moduleAgent('calls.ts', { together: true, calls: WAITS }), 3],
  ])('%s has one attempt, cancelled, and its world is given back', async (_when, agent, inFlight) => {
    await using testbed = await startTestbed(inject('services'));
    await using suites = await blobs(testbed, 'core-cancel');
    const running = suites.run(agent, { budget: { wall: '60s' } });
    const id = await acting(testbed.root, inFlight);
    await testbed.root.temporal.workflow.getHandle(id).cancel();
    const trial = await running;
    expect(trial).toMatchObject({ ending: 'cancelled', pass: null, attempt: 1 });
    expect(await testbed.root.worlds.leased(`${trial.batch}-`)).toBe(0);
  });
});

it('a call that a shutdown of the worker stops is asked for and made again, not told as unknown', async () => {
  await using testbed = await startTestbed(inject('services'), { worker: false });
  await using suites = await blobs(testbed, 'core-shutdown');
  const first = await startTrialWorker(testbed.root);
  const handle = await run(testbed.root, { ...(await suites.write(script(9_000))), keep: 'never' }, new Promise(() => {}));
  await acting(testbed.root, 1);
  await first[Symbol.asyncDispose]();
  await using _second = await startTrialWorker(testbed.root);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1, disturbed: true }]);
  expect((await suites.record(trials[0] as TrialSummary)).messages.at(-1)?.text).toBe('committed');
});
