import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Trialbed, trialbedOver } from '../../src/client/index.ts';
import { comparisonMarkdown } from '../../src/report/comparison/comparison-markdown.ts';
import { noiseSentences } from '../../src/report/comparison/sentences.ts';
import { openingLines } from '../../src/report/comparison/wording.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const CHARGED = { call: 'charge', with: { account: 'a-1', amount: 5 } };
const KASE = {
  expects_nothing: false,
  expect: { outcomes: [{ name: 'charged', effects: [{ row: 'charges', change: 'insert', where: { account: 'a-1', amount: 5 } }] }] },
  reference: { steps: [CHARGED], answer: 'Done.' },
};
const REPETITIONS = 4;

let testbed: Testbed;
let bed: Trialbed;
let folder: string;
/** Of one generation, with the same chance, with other chance; of another generation; of another suite. */
let [first, again, elsewise, other, strange]: string[] = [];

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  bed = trialbedOver(testbed.root, async () => {});
  folder = await mkdtemp(join(tmpdir(), 'trialbed-compared-'));
  const parts = { environment: resolve('test/fixtures/packs/counter/pack.ts'), agent: { kind: 'script', steps: [CHARGED], answer: 'Done.' }, kase: KASE };
  // Half of the calls fail, and the agent does not try again: whether a trial passes is chance, and the seed's.
  const faults = { chance: { faults: [{ on: 'charge', probability: 0.5, fault: 'unavailable' }] } };
  const suite = await writeOneCaseSuite(folder, 'compared', { ...parts, faults, more: { second: KASE, third: KASE } });
  const request = { ...suite, faults: ['chance'], trials: REPETITIONS, keep: 'never', seed: 'one' } as const;
  const ran = async (more: object): Promise<string> => (await testbed.run({ ...request, ...more })).summary.batch;
  first = await ran({});
  again = await ran({});
  elsewise = await ran({ seed: 'two' });
  other = await ran({ environmentOptions: { runtime: { timeoutSeconds: 31 } } });
  const stranger = await writeOneCaseSuite(folder, 'strange', { ...parts, kase: {}, more: { another: {} } });
  strange = (await testbed.run({ ...stranger, keep: 'never', cases: ['another'] })).summary.batch;
}, 120_000);

afterAll(async () => {
  await bed?.[Symbol.asyncDispose]();
  await testbed?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const compare = (a: string | undefined, b: string | undefined, more: { readonly acrossGenerations?: true } = {}) =>
  bed.compare({ a: { batch: a ?? '' }, b: { batch: b ?? '' }, ...more });

it('batches of two generations are refused, with the way on; across generations they are compared, and it is said', async () => {
  await expect(compare(first, other)).rejects.toMatchObject({
    code: 'comparison_refused',
    reason: 'nothing_matches',
    message: expect.stringMatching(/12 of another generation of the environment; run both again .* or compare with --across-generations/),
  });
  const across = await compare(first, other, { acrossGenerations: true });
  expect(across).toMatchObject({ a: { matched: 12 }, generationsDiffer: true, unmatched: [] });
  expect(across.a.generations).not.toEqual(across.b.generations);
  expect(openingLines(across)[3].text).toContain('equal environments: the generations differ, and what is found may be due to that');
  expect(comparisonMarkdown(across)).toContain('the generations differ');
});

it('an agent against itself under the same chance: every trial comes out the same, and nothing is shown', async () => {
  const same = await compare(first, again);
  expect(same).toMatchObject({ a: { matched: 12 }, changes: 0, seedsDiffer: false, safer: { answer: 'not_shown' }, useful: { answer: 'not_shown', ties: 12 } });
  // Chance within the agent is seen all the same: some of its repetitions pass and some do not.
  const { a: noise } = same.noise;
  expect(noise).toMatchObject({ pairs: 6 });
  expect(noise?.differ).toBeGreaterThan(0);
  expect(noiseSentences(same)[0]).toMatch(/against itself, odd repetitions against even ones: \d of 6 pairs differ/);
});

it('under other chance its trials differ, and still nothing is shown; that the seeds differ is said', async () => {
  const luck = await compare(first, elsewise);
  expect(luck.changes).toBeGreaterThan(0);
  expect(luck).toMatchObject({ seedsDiffer: true, safer: { answer: 'not_shown' }, useful: { answer: 'not_shown' } });
  expect(openingLines(luck)[3].text).toContain('equal chance: the batches have other seeds');
});

it('batches of two suites have no trial in common, and the refusal names the suites', async () => {
  await expect(compare(first, strange)).rejects.toMatchObject({
    reason: 'nothing_matches',
    message: expect.stringContaining('they are of two suites, compared and strange'),
  });
});

it('what has not ended is in no figure, and it is said', async () => {
  const { store } = testbed.root;
  const batch = await store.batch(first ?? '');
  const trials = await store.trials(first ?? '');
  if (!batch) throw new Error('there is no first batch');
  const id = `${batch.id}open`;
  const { id: _, ...plan } = batch;
  await store.createBatch({ ...plan, id, trials: trials.map((trial, at) => ({ ...trial, id: `${id}-${at}` })) });
  await expect(compare(first, id)).rejects.toMatchObject({ reason: 'nothing_matches', message: expect.stringContaining('12 that have not ended; wait until') });
});
