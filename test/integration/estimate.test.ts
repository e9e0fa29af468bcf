import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { estimate } from '../../src/client/estimate.ts';
import { prepareBatch } from '../../src/client/run.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
});

afterAll(() => testbed[Symbol.asyncDispose]());

const REQUEST = { suite: 'support-desk', agents: ['do-nothing'], cases: ['nothing-to-do', 'price-question'], seed: 'estimate' };

test('a run is estimated from earlier batches, and the estimate makes nothing', async () => {
  const { root } = testbed;
  const before = await estimate(root, REQUEST);
  expect(before).toMatchObject({ trials: 2, basis: { none: 2 }, seconds: null, tokens: null, cost: null, resumes: null, concurrency: 8 });
  expect(await root.store.batches()).toEqual([]);
  await testbed.run({ ...REQUEST, cases: ['price-question'] });
  const after = await estimate(root, { ...REQUEST, trials: 3 });
  expect(after).toMatchObject({ trials: 6, basis: { same: 3, agent: 3 }, samples: 1, tokens: null, cost: null, calls: 0 });
  expect(after.seconds?.likely).toBeGreaterThan(0);
  expect(await root.store.batches()).toHaveLength(1);
});

test('of an interrupted batch only what is left is estimated', async () => {
  const { root } = testbed;
  const { batch } = await prepareBatch(root, REQUEST);
  const [first] = await root.store.trials(batch.id);
  if (!first) throw new Error('the batch has no trial');
  const { summaryOf } = await import('./store-fixture.ts');
  await root.store.finishAttempt(first.id, 1, summaryOf(first.id, 1), new Date().toISOString());
  expect(await estimate(root, REQUEST)).toMatchObject({ trials: 1, resumes: { batch: batch.id, done: 1 } });
  // Of other content, so another batch.
  expect(await estimate(root, { ...REQUEST, seed: 'another' })).toMatchObject({ trials: 2, resumes: null });
});
