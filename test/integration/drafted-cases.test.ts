import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { requireFinishedCassettes } from '../../src/client/cassettes/draft-problems.ts';
import { record } from '../../src/client/cassettes/record.ts';
import { importTraces } from '../../src/client/import-traces.ts';
import { run } from '../../src/client/run.ts';
import { validate } from '../../src/client/validate.ts';
import type { Cassette } from '../../src/domain/cassette.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const REFUND = new URL('../fixtures/traces/refund.otlp.json', import.meta.url).pathname;
const CASE = 'trace-5b8efff798038103';
const never = new Promise<never>(() => {});

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-drafts-'));
});
afterAll(async () => {
  await testbed?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});

test('a drafted case validates once its questions are answered, gets what its calls change from a world, and runs on what production answered', {
  timeout: 120_000,
}, async () => {
  await mkdir(join(folder, 'cases'));
  const suite = {
    name: 'desk',
    environment: 'support-desk',
    clock: '2026-03-02T09:30:00+01:00',
    timezone: 'Europe/Berlin',
    user: { name: 'mara', role: 'agent' },
  };
  await writeFile(join(folder, 'suite.yaml'), stringify(suite));
  await importTraces({ files: [REFUND], suite: folder });
  const validated = () => validate(testbed.root, folder, { mutants: false }, async () => ({ taskQueue: testbed.root.config.taskQueue, broken: never }));
  await expect(validated()).rejects.toThrow('this draft has an open question: Which changes were right?');

  const file = join(folder, 'cases', `${CASE}.yaml`);
  const draft = parse(await readFile(file, 'utf8')) as JsonObject & { readonly review: { readonly of: string; readonly questions: readonly JsonObject[] } };
  const questions = draft.review.questions.map((question) => ({ ...question, answer: 'As in the audit log of that day.' }));
  const effects = [
    { row: 'refunds', change: 'insert', where: { order_id: 5007, line_id: 8010, amount: 39.9, reason: 'damaged' }, count: 1 },
    { mail: ['sofia.lindqvist@example.org'], subject: { says: ['5007'] }, body: { says: ['39.90'] } },
  ];
  const claims = [{ claim: 'amount', name: 'amount', equals: 39.9, currency: 'EUR' }];
  const expected = { outcomes: [{ name: 'refunded', effects }], forbidden: [], claims };
  await writeFile(file, stringify({ ...draft, state: [], expect: expected, review: { ...draft.review, questions } }));

  // What the calls changed is still open, in the cassette.
  const place = new RegExp(
    `cassettes/${CASE}/trace\\.json:\\d+:\\d+: draft\\.effects\\[0\\]: interaction 3 \\(issue_refund\\): a trace does not tell what it changed`,
  );
  await expect(validated()).rejects.toThrow(place);
  await expect(testbed.run({ suite: folder, cassettes: {} })).rejects.toThrow(place);
  const report = await record(testbed.root, { suite: folder, cases: [CASE], effects: true }, (asked) => run(testbed.root, asked, never));
  expect(report.cassettes.map(({ state, why, variant }) => [state, why, variant])).toEqual([['changed', null, 'trace']]);
  const loaded = await loadSuite(folder);
  await requireFinishedCassettes(loaded, loaded.cases);
  expect((await validated()).ok).toBe(true);

  const { trials } = await testbed.run({ suite: folder, cassettes: {} });
  expect(trials, JSON.stringify(trials)).toMatchObject([{ ending: 'completed', pass: 'pass', cassette: { variant: 'trace', route: 'recorded', unused: 0 } }]);
  const stored = trials[0] && (await testbed.root.store.record(trials[0].trial, trials[0].attempt));
  // As production answered it: the fixture knows no such refund.
  expect(stored?.operations.find(({ tool }) => tool === 'issue_refund')?.result).toMatchObject({ id: 9001 });
  const { draft: about, interactions } = JSON.parse(await readFile(report.cassettes[0]?.file ?? '', 'utf8')) as Cassette;
  expect(about?.effects).toEqual([]);
  expect(interactions.map((one) => one.effects.length > 0)).toEqual([false, false, true, true]);
});
