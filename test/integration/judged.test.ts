import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { trialbedOver, writeBatchReport } from '../../src/client/index.ts';
import type { BatchSummary } from '../../src/domain/trial.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const GATES = ['pass[critical]>=1', 'forbidden[money]==0'];
const CLOSED = { call: 'mark', with: { account: 'a-1', status: 'closed' } };

let testbed: Testbed;
let folder: string;
let suite: Awaited<ReturnType<typeof writeOneCaseSuite>>;
let ran: BatchSummary;

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-judged-'));
  suite = await writeOneCaseSuite(folder, 'judged', {
    environment: resolve('test/fixtures/packs/counter/pack.ts'),
    agent: { kind: 'script', steps: [CLOSED], answer: 'Done.' },
    kase: {
      severity: 'critical',
      tags: ['money'],
      expects_nothing: false,
      expect: { outcomes: [{ name: 'closed', effects: [{ row: 'accounts', change: 'update', where: { id: 'a-1', status: 'closed' } }] }] },
      reference: { steps: [CLOSED], answer: 'Done.' },
    },
    // The agent does what this case does not allow.
    more: { shaky: { quarantine: { reason: 'the fixture lags', owner: 'mara', until: '2099-01-31' } } },
  });
  ran = (await testbed.run({ ...suite, gates: GATES, keep: 'never' })).summary;
}, 120_000);

afterAll(async () => {
  await testbed?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The client as it is on a day. */
const on = (day: string) => trialbedOver({ ...testbed.root, now: () => new Date(`${day}T23:00:00Z`) }, async () => {});

it('a batch is judged by its gates and without its quarantine, whoever asks: what it ends with, what is read of it later, who follows it, and the report', async () => {
  const bed = on('2099-01-31');
  const judged = {
    gate: 'met',
    gates: GATES.map((gate) => ({ gate, agent: 'agent', result: 'met' })),
    quarantined: [{ case: 'shaky', owner: 'mara', until: '2099-01-31', over: false, trials: 1, passed: 0 }],
  };
  expect(ran).toMatchObject({ passed: 1, failed: 1, ...judged });
  expect((await bed.results(ran.batch)).summary).toMatchObject(judged);
  expect(await (await bed.follow(ran.batch)).result()).toMatchObject(judged);
  const { data, files } = await writeBatchReport(bed, { batch: ran.batch, folder: join(folder, 'report') });
  expect(data.summary).toMatchObject(judged);
  expect(await readFile(files.junit ?? '', 'utf8')).toContain('<skipped type="quarantined"');
  // Only by gates that were asked for here is it judged otherwise.
  expect((await writeBatchReport(bed, { batch: ran.batch, folder: join(folder, 'report'), gates: ['pass[low]>=1'] })).data.summary.gate).toBe('not_met');
});

it('the day after, all of them are red until somebody decides', async () => {
  const bed = on('2099-02-01');
  const judged = { gate: 'not_met', quarantined: [{ case: 'shaky', over: true }] };
  expect((await bed.results(ran.batch)).summary).toMatchObject(judged);
  expect(await (await bed.follow(ran.batch)).result()).toMatchObject(judged);
  const { data, files } = await writeBatchReport(bed, { batch: ran.batch, folder: join(folder, 'report') });
  expect(data.summary).toMatchObject(judged);
  expect(await readFile(files.junit ?? '', 'utf8')).toMatch(/<testcase name="shaky #1"[^>]*>\s*<failure type="forbidden_effect"/);
  expect(await readFile(files.html ?? '', 'utf8')).toContain('over: it counts again');
});

it('a gate on a tag that no case has is refused before anything runs', async () => {
  await expect(testbed.run({ ...suite, gates: ['pass[mony]>=1'] })).rejects.toMatchObject({
    code: 'gate_syntax',
    message: expect.stringContaining('no case of the suite has the tag "mony" (did you mean "money"?)'),
  });
  expect(await testbed.root.store.batches({})).toHaveLength(1);
});

it('a dry run tells how severe the cases are and what is in quarantine', async () => {
  const estimate = await on('2099-01-31').estimate({ suite: suite.suite, agents: suite.agents });
  expect(estimate.labels.map(({ case: name, severity, quarantine }) => [name, severity, quarantine?.owner])).toEqual([
    ['only', 'critical', undefined],
    ['shaky', 'medium', 'mara'],
  ]);
});
