import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { validate } from '../../src/client/validate.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
});

test('a batch of the suite: the reference passes all, the careful agent more than the hasty one, and no world is left', { timeout: 300_000 }, async () => {
  const { trials, summary } = await testbed.run({ suite: 'support-desk', agents: ['reference', 'hasty', 'careful'], keep: 'never' });
  const of = (agent: string) => trials.filter((trial) => trial.agent === agent);
  const passed = (agent: string): number => of(agent).filter(({ pass }) => pass === 'pass').length;
  expect(trials.filter(({ ending }) => ending !== 'completed')).toEqual([]);
  expect(of('reference').filter(({ pass }) => pass !== 'pass')).toEqual([]);
  expect(passed('hasty')).toBeGreaterThan(0);
  expect(passed('careful')).toBeGreaterThan(passed('hasty'));
  expect(passed('careful')).toBeLessThan(passed('reference'));
  expect(summary.worlds).toMatchObject({ released: trials.length, leaked: 0 });
});

test('every mutant of a reference fails its case, or the case says why it may pass', { timeout: 600_000 }, async () => {
  const report = await validate(testbed.root, 'support-desk', {}, async () => ({ taskQueue: testbed.config.taskQueue, broken: new Promise<never>(() => {}) }));
  expect(report.results.filter(({ ok }) => !ok)).toEqual([]);
  expect(report.survived).toBe(0);
  expect(report.mutants).toBeGreaterThan(200);
  // What is explained are repeats that the payment or order system refuses.
  expect(report.results.filter(({ explained }) => explained !== null).map(({ variant }) => variant.split(':')[0])).toEqual(
    Array(report.explained).fill('repeat'),
  );
  expect(report.explained).toBeLessThanOrEqual(5);
});
