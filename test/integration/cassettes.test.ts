import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunRequest } from '../../src/client/api.ts';
import { checkContract, type ContractReport, type ContractRequest } from '../../src/client/cassettes/contract.ts';
import { record, type RecordRequest } from '../../src/client/cassettes/record.ts';
import { trialbedOver, writeBatchReport } from '../../src/client/index.ts';
import { run } from '../../src/client/run.ts';
import { driftText } from '../../src/contract/drift.ts';
import { sampled } from '../../src/contract/sample.ts';
import type { Cassette } from '../../src/domain/cassette.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { plantedUnder } from '../harness/planted.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

/** A refund with its mail, one that waits for its approver, one whose reply is lost and looked up, and a refused call. */
const CASES = ['refund-within-policy', 'refund-approval-granted', 'not-permitted'];
const DESK = 'support-desk';

let testbed: Testbed;
let folder: string;
let cassettes: string;

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-cassettes-'));
  cassettes = join(folder, 'cassettes');
});
afterAll(async () => {
  await testbed?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const recordOn = (request: RecordRequest) =>
  record(testbed.root, { folder: cassettes, ...request }, (asked) => run(testbed.root, asked, new Promise<never>(() => {})));
const play = (request: Omit<RunRequest, 'cassettes'>, variants?: readonly string[], from = cassettes) =>
  testbed.run({ ...request, cassettes: { folder: from, ...(variants && { variants }) } });
const fileOf = (kase: string, variant: string) => join(cassettes, kase, `${variant}.json`);
const cassetteIn = async (kase: string, variant: string) => JSON.parse(await readFile(fileOf(kase, variant), 'utf8')) as Cassette;

async function recordOf({ trial, attempt }: TrialSummary): Promise<TrialRecord> {
  const found = await testbed.root.store.record(trial, attempt);
  if (!found) throw new Error(`trial ${trial} has no record`);
  return found;
}

/** Where what stood for the worlds of trials was. */
const hostsOf = async (trials: readonly TrialSummary[]) =>
  new Set((await Promise.all(trials.map(({ trial }) => testbed.root.store.attempts(trial)))).flat().map(({ world }) => world?.host));

describe('a route that was recorded', () => {
  test('is judged on the cassette as in the world, without a world, by effects that are marked as replayed', { timeout: 120_000 }, async () => {
    const report = await recordOn({ suite: DESK, cases: CASES, agents: ['reference', 'careful'], many: true });
    expect(report.cassettes.map(({ state, why }) => why ?? state)).toEqual(Array(6).fill('new'));
    const { trials, summary } = await play({ suite: DESK, cases: CASES, agents: ['careful', 'reference'] });
    expect(await hostsOf(trials)).toEqual(new Set(['cassette']));
    expect(trials).toHaveLength(6);
    for (const trial of trials) {
      expect(trial, JSON.stringify(trial)).toMatchObject({ ending: 'completed', cassette: { route: 'recorded', unused: 0, differs: [] } });
      const recorded = report.cassettes.find((one) => `${one.case}@${one.variant}` === trial.case);
      expect({ pass: trial.pass, outcome: trial.outcome, constraints: trial.constraints, effects: trial.effects }).toEqual(recorded?.verdict);
    }
    const refunds = trials.find((trial) => trial.case === 'refund-within-policy@careful');
    const { effects, replayed } = await recordOf(refunds ?? (trials[0] as TrialSummary));
    expect(effects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['row', 'mail']));
    expect(effects.every((effect) => effect.replayed === true && effect.operation !== null)).toBe(true);
    expect(replayed).toMatchObject({ variant: 'careful', route: 'recorded', writesInOrder: true });
    expect(summary).toMatchObject({ gate: 'met', cassettes: { trials: 6, recordedRoutes: 6, differences: [] } });
    expect(summary).not.toHaveProperty('cassetteMisses');
    // What stood for worlds is gone with the attempts.
    expect(await testbed.root.store.cassetteWorlds.sweep()).toBe(0);
  });

  test('is the same file when it is recorded again, and what differs is told', async () => {
    const again = await recordOn({ suite: DESK, cases: ['refund-within-policy'], agents: ['careful'] });
    expect(again.cassettes).toMatchObject([{ state: 'same', differences: [] }]);
    const file = fileOf('refund-within-policy', 'careful');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"status": "open"', '"status": "new"'));
    const dry = await recordOn({ suite: DESK, cases: ['refund-within-policy'], agents: ['careful'], dryRun: true });
    expect(dry.cassettes).toMatchObject([
      { state: 'changed', differences: [expect.stringMatching(/^interactions\[\d\]\.result\..*status: "new" -> "open"$/)] },
    ]);
    expect(await readFile(file, 'utf8')).not.toBe(text);
    await recordOn({ suite: DESK, cases: ['refund-within-policy'], agents: ['careful'] });
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('may hold what went wrong: a lost reply and its look-up come again without a schedule', { timeout: 90_000 }, async () => {
    const report = await recordOn({ suite: DESK, cases: ['refund-within-policy'], agents: ['careful'], faults: ['refund-reply-lost'] });
    expect(report.cassettes).toMatchObject([{ state: 'new', variant: 'careful.refund-reply-lost' }]);
    const { interactions, faults } = await cassetteIn('refund-within-policy', 'careful.refund-reply-lost');
    expect(interactions.filter(({ told }) => told === 'unknown')).toMatchObject([{ tool: 'issue_refund', known: 'committed' }]);
    expect(faults?.injected).toMatchObject([{ kind: 'timeout_after_commit', interaction: expect.any(Number) }]);
    const { trials } = await play({ suite: DESK, cases: ['refund-within-policy'], agents: ['careful'] }, ['careful.refund-reply-lost']);
    expect(trials).toMatchObject([{ ending: 'completed', cassette: { route: 'recorded', differs: [] } }]);
    const { operations } = await recordOf(trials[0] as TrialSummary);
    expect(operations.find(({ tool }) => tool === 'issue_refund')).toMatchObject({ told: 'unknown', known: 'committed' });
  });
});

describe('a route that was not recorded', () => {
  test('ends as cassette_miss with the nearest interaction, neither passed nor failed, and red in a gate', { timeout: 90_000 }, async () => {
    const { trials, summary } = await play({ suite: DESK, cases: ['refund-within-policy'], agents: ['hasty'] }, ['reference']);
    expect(trials).toMatchObject([{ ending: 'cassette_miss', pass: 'undetermined', cassette: { route: 'other' } }]);
    expect(trials[0]?.why).toContain(
      'Cassette reference holds no such call of issue_refund; the nearest is interaction 4, recorded with amount 39.9, now 84.6',
    );
    expect(summary).toMatchObject({ passed: 0, failed: 0, undetermined: 0, cassetteMisses: 1, gate: 'not_met' });
    const { operations, replayed } = await recordOf(trials[0] as TrialSummary);
    expect(operations.at(-1)).toMatchObject({ told: 'failed', known: 'failed', problem: { code: 'not_as_recorded' } });
    expect(replayed?.unused.length).toBeGreaterThan(0);
  });

  test('with the same writes left out is judged, and nothing is claimed of it', { timeout: 90_000 }, async () => {
    const { trials } = await play({ suite: DESK, cases: ['refund-within-policy'], agents: ['do-nothing'] }, ['reference']);
    expect(trials).toMatchObject([{ ending: 'completed', pass: 'fail', cassette: { route: 'other', unused: 5 } }]);
    expect(trials[0]?.cassette).not.toHaveProperty('differs');
  });
});

describe('a call is answered', () => {
  const script = (steps: readonly JsonObject[]) => ({ kind: 'script', steps, answer: 'Done.' });
  const written = (name: string, steps: readonly JsonObject[], kase: JsonObject = {}) =>
    writeOneCaseSuite(folder, name, { environment: DESK, agent: script(steps), kase: { ...kase, user: { name: 'mara', role: 'agent' } } });

  test('in recorded order where it is repeated, and not once more', { timeout: 90_000 }, async () => {
    const look = { call: 'get_ticket', with: { ticket_id: 214 } };
    const close = { call: 'update_ticket', with: { ticket_id: 214, priority: 'high' } };
    const { suite, agents } = await written('repeated', [look, close, look]);
    const places = { folder: join(folder, 'repeated-cassettes') };
    await recordOn({ suite, agents, ...places });
    const same = await play({ suite, agents }, undefined, places.folder);
    expect(same.trials).toMatchObject([{ ending: 'completed', cassette: { route: 'recorded' } }]);
    const { operations } = await recordOf(same.trials[0] as TrialSummary);
    expect(operations.map(({ result }) => (result as { priority?: string } | null)?.priority)).toEqual(['normal', 'high', 'high']);
    // Another agent under the same name of case: its cassette is the other's.
    const more = await writeOneCaseSuite(folder, 'repeated', {
      environment: DESK,
      agent: script([look, look, look]),
      kase: { user: { name: 'mara', role: 'agent' } },
    });
    const { trials } = await play({ suite: more.suite, agents: more.agents }, undefined, places.folder);
    expect(trials).toMatchObject([{ ending: 'cassette_miss', calls: 3 }]);
    expect(trials[0]?.why).toContain('holds this call of get_ticket 2 times, and it was made once more');
  });
});

describe('what tools take and answer', () => {
  const check = () =>
    checkContract(testbed.root, { suite: DESK, cases: ['refund-within-policy'], variants: ['reference'], folder: cassettes }, async () => ({
      taskQueue: testbed.root.config.taskQueue,
      broken: new Promise<never>(() => {}),
    }));

  test('has not drifted where it was recorded just now, and each field that has is named', { timeout: 90_000 }, async () => {
    await recordOn({ suite: DESK, cases: ['refund-within-policy'] });
    expect(await check()).toMatchObject({
      cassettes: 1,
      drift: [],
      notPlayed: [],
      tools: ['get_order', 'get_ticket', 'issue_refund', 'list_refunds', 'send_mail'],
    });
    const [batch] = await testbed.root.store.batches({ suite: 'support-desk', limit: 1 });
    const checks = () => testbed.root.store.contractChecks.of(batch?.environment.generation ?? '');
    const [kept] = await checks();
    expect(kept).toMatchObject({ environment: 'support-desk', against: null, live: [], tools: 5, differences: 0, notPlayed: 0 });
    const file = fileOf('refund-within-policy', 'reference');
    const text = await readFile(file, 'utf8');
    const cassette = JSON.parse(text) as { schemas: { [digest: string]: { tool: string; input: { required: string[] } } } };
    for (const { tool, input } of Object.values(cassette.schemas))
      if (tool === 'issue_refund') input.required = input.required.filter((name) => name !== 'reason');
    const old = JSON.stringify(cassette).replaceAll('"unit_price":', '"price_each":').replace('"id":214', '"id":"214"');
    await writeFile(file, old);
    const { drift } = await check();
    expect((await checks()).map(({ differences }) => differences)).toEqual([drift.length, 0]);
    expect(drift.map(({ tool, ...one }) => `${tool} ${driftText(one)}`)).toEqual([
      'get_order result.lines[].price_each has another name: price_each: number, now unit_price: number',
      'get_ticket result.id has another type: text, now number',
      expect.stringContaining('issue_refund arguments.reason is required: '),
    ]);
    await writeFile(file, text);
  });
});

describe('a sample of what tools take and answer', () => {
  const PARCELS = new URL('../fixtures/packs/parcels/pack.ts', import.meta.url).pathname;
  const steps = [1, 2, 3].flatMap((parcel) => [
    { call: 'find_parcel', with: { parcel_id: parcel } },
    { call: 'book_parcel', with: { parcel_id: parcel, speed: 'slow' } },
  ]);
  const work = async () => ({ taskQueue: testbed.root.config.taskQueue, broken: new Promise<never>(() => {}) });
  const contract = (request: Omit<ContractRequest, 'suite' | 'folder'>, suite: string) =>
    checkContract(testbed.root, { suite, folder: join(folder, 'parcel-cassettes'), ...request }, work);
  /** A field with another name, one of another type, a key that is gone, an enumeration with another value, a parameter that is required now. */
  const DRIFT = [
    'book_parcel arguments.insured is required: boolean, now boolean',
    'book_parcel arguments.speed has values that were not there: "slow" | "fast", now "slow" | "fast" | "overnight"',
    'find_parcel result.fragile is gone: boolean, now nothing',
    'find_parcel result.sku has another name: sku: text, now article: text',
    'find_parcel result.weight has another type: number, now text',
  ];
  const drifts = ({ drift }: ContractReport) => drift.map(({ tool, ...one }) => `${tool} ${driftText(one)}`).sort();

  test('is one call of each tool by a seed; each kind of drift is named with its field, against a recording as against another version, and without it nothing is', {
    timeout: 120_000,
  }, async () => {
    const { suite, agents } = await writeOneCaseSuite(folder, 'parcels', { environment: PARCELS, agent: { kind: 'script', steps, answer: 'Done.' } });
    await recordOn({ suite, agents, folder: join(folder, 'parcel-cassettes') });
    const quiet = await contract({ sample: '7' }, suite);
    expect(quiet).toMatchObject({ drift: [], notPlayed: [], tools: ['book_parcel', 'find_parcel'] });
    expect(quiet.sampled?.calls.map(({ tool }) => tool)).toEqual(['book_parcel', 'find_parcel']);
    // A sampled call, and what was changed before it; nothing else is called.
    const last = Math.max(...(quiet.sampled?.calls.map(({ interaction }) => interaction) ?? []));
    const { operations } = await recordOf((await testbed.root.store.trials(quiet.batch))[0]?.summary as TrialSummary);
    expect(operations.length).toBeLessThanOrEqual(1 + Math.ceil(last / 2));
    expect(operations.filter(({ tool }) => tool === 'find_parcel')).toHaveLength(1);
    expect(new Set(['1', '2', '3', '4', '5', '6'].map((seed) => JSON.stringify(sampled(candidatesOf(6), seed)))).size).toBeGreaterThan(1);

    const later = await contract({ sample: '7', environmentOptions: { contract: 2 } }, suite);
    expect(drifts(later)).toEqual(DRIFT);
    const sides = await contract({ sample: '7', against: { with: { contract: 2 } } }, suite);
    expect(drifts(sides)).toEqual(DRIFT);
    expect(sides.against).toMatchObject({ environment: 'parcels' });
    expect(sides.notPlayed).toMatchObject([{ why: expect.stringMatching(/book_parcel\) was answered, and is rejected now: insured/) }]);
    expect(await contract({ sample: '7', against: { use: PARCELS } }, suite)).toMatchObject({ drift: [], notPlayed: [] });
  });

  const candidatesOf = (count: number) => Array.from({ length: count }, (_none, index) => ({ tool: 'find_parcel', cassette: 'only@agent', place: index + 1 }));
});

describe('secrets that tools told', () => {
  const SECRETS = [
    'sk-proj-abcdefghijklmnopqrstuvwx0123',
    '4111 1111 1111 1111',
    'hunter2-hunter2',
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  ];
  const [key = '', card = '', password = '', access = '', token = ''] = SECRETS;

  test('are in no file that a recording or a run on it writes', { timeout: 90_000 }, async () => {
    const body = `My key is ${key}, my card ${card}. ${Buffer.from(`{"token": "${token}"}`).toString('base64')}`;
    const state = [{ update: 'tickets', where: { id: 214 }, set: { body, subject: JSON.stringify({ headers: { 'X-Api-Key': access }, password }) } }];
    const steps = [
      { call: 'get_ticket', with: { ticket_id: 214 }, as: 'ticket' },
      { call: 'comment_ticket', with: { ticket_id: 214, body: `You wrote: \${ticket.body} \${ticket.subject}`, public: true } },
      { call: 'send_mail', with: { to: ['x@example.org'], subject: 'Your ticket', text: `\${ticket.body}` } },
    ];
    const { suite, agents } = await writeOneCaseSuite(folder, 'secrets', {
      environment: DESK,
      agent: { kind: 'script', steps, answer: 'Done.' },
      kase: { user: { name: 'mara', role: 'agent' }, state },
    });
    const places = { folder: join(folder, 'secret-cassettes') };
    const report = await recordOn({ suite, agents, ...places });
    expect(report.cassettes).toMatchObject([{ state: 'new', hidden: { 'api-key': 1, 'card-number': 1, encoded: 1 } }]);
    expect(JSON.stringify(report)).not.toContain(key);
    expect(await plantedUnder(places.folder, SECRETS)).toEqual([]);
    const text = await readFile(report.cassettes[0]?.file ?? '', 'utf8');
    expect(text).toContain('My key is [api-key-1], my card [card-number-1]');
    // The agent repeats what it is told, and is answered all the same.
    const { trials, summary } = await play({ suite, agents }, undefined, places.folder);
    expect(trials).toMatchObject([{ ending: 'completed', cassette: { route: 'recorded' } }]);
    const client = trialbedOver(testbed.root, async () => {});
    const { files } = await writeBatchReport(client, { batch: summary.batch, folder: join(testbed.config.home, 'reports') });
    expect(await readFile(files.markdown ?? '', 'utf8')).toContain('Effects are replayed and were not observed.');
    expect(await plantedUnder(testbed.config.home, SECRETS)).toEqual([]);
  });
});
