import { expect, inject, it } from 'vitest';
import { startTestbed } from '../harness/testbed.ts';
import { blobs, moduleAgent } from './core-trials.ts';

it('agents that take every slot for conversations leave slots for the calls that they make', async () => {
  await using testbed = await startTestbed(inject('services'), {
    config: { worker: { activities: 2, cachedWorkflows: 300, modelCalls: 2, modelCallsPerSecond: null } },
  });
  await using suites = await blobs(testbed, 'core-slots');
  const calls = [
    { tool: 'slow_read', args: {} },
    { tool: 'add_note', args: { body: 'noted' } },
  ];
  const { suite, agents } = await suites.write(moduleAgent('calls.ts', { calls }));
  const { trials, summary } = await testbed.run({ suite, agents, trials: 6, concurrency: 6, keep: 'never' });
  expect(trials).toHaveLength(6);
  for (const trial of trials) expect(trial).toMatchObject({ ending: 'completed', calls: 2, attempt: 1 });
  expect(summary.worlds.leaked).toBe(0);
});
