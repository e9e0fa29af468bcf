import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { trialbedOver } from '../../src/client/index.ts';
import type { JudgeRequest, Trialbed } from '../../src/client/api.ts';
import { writeBatchReport } from '../../src/client/report.ts';
import { newKey } from '../../src/keys/key-ring.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { type ProviderAnswer, type ProviderRequest, says, startProvider } from '../harness/provider.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const ANA = 'ana@example.com';
const KEY = 'JUDGE_TEST_KEY';
const SECRET = 'sk-judge-0123456789abcdef';
const TRIALS = 4;

let testbed: Testbed;
let client: Trialbed;
let sql: pg.Client;
let folder: string;
let suite: string;
let batch: string;

beforeAll(async () => {
  process.env[KEY] = SECRET;
  folder = await mkdtemp(join(tmpdir(), 'trialbed-judges-'));
  testbed = await startTestbed(inject('services'), { config: { keys: [newKey('judges')] } });
  client = trialbedOver(testbed.root, async () => {});
  sql = new pg.Client({ connectionString: testbed.config.store.url });
  await sql.connect();
  const kase = { request: `I am ${ANA}.`, reference: { steps: [], answer: `Hello ${ANA}.` } };
  ({ suite } = await writeOneCaseSuite(folder, 'judged', { environment: 'support-desk', agent: { kind: 'do-nothing' }, kase }));
  batch = await ran('first');
}, 180_000);

afterAll(async () => {
  await sql?.end();
  await testbed?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  delete process.env[KEY];
});

async function ran(seed: string): Promise<string> {
  const { summary } = await testbed.run({ suite, agents: ['reference'], trials: TRIALS, keep: 'never', seed });
  expect(summary.passed).toBe(TRIALS);
  return summary.batch;
}

/** A rubric of the suite by this name, and a provider that judges as it is told. */
async function judge(name: string, answer: (request: ProviderRequest, number: number) => ProviderAnswer | Promise<ProviderAnswer>, route: object = {}) {
  const provider = await startProvider(answer);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const write = async (more: object = {}) => {
    await mkdir(join(suite, 'rubrics'), { recursive: true });
    const scale = [
      { category: 'rude', means: 'It insulted the user.' },
      { category: 'kind', means: 'It did not.' },
    ];
    const model = { name: 'tiny', url: provider.url, model: 'tiny', key: KEY, prices: { input: 10, output: 100 }, ...route };
    const rubric = { version: '1', question: 'Was it polite?', scale, passes: ['kind'], calibration: { labels: 10 }, model, ...more };
    await writeFile(join(suite, 'rubrics', `${name}.yaml`), stringify(rubric));
  };
  await write();
  const request: JudgeRequest = { batch, rubric: name };
  return { provider, write, request };
}

const kind = () => says(JSON.stringify({ category: 'kind', reason: `It greeted ${ANA}.` }));
const rows = async (text: string, values: unknown[] = []) => (await sql.query(text, values)).rows;

test('judges what is missing, once, and tells what it costs before', async () => {
  const { provider, request } = await judge('tone', kind);
  const estimate = await client.estimateJudging(request);
  expect(estimate).toMatchObject({ trials: TRIALS, before: { judged: 0, failed: 0 }, cost: { currency: 'USD' }, basis: 'length' });
  expect(provider.requests).toHaveLength(0);
  const seen: number[] = [];
  const report = await client.judge({ ...request, onProgress: (done) => seen.push(done) });
  expect(report).toMatchObject({
    added: { judged: TRIALS, failed: 0 },
    stands: { trials: TRIALS, judged: TRIALS, failed: 0, open: 0 },
    categories: { rude: 0, kind: TRIALS },
    cost: { USD: TRIALS * 0.003 },
    standing: { calibrated: false, why: 'people labelled 0 of the 10 trials that are needed' },
  });
  expect(seen).toEqual([1, 2, 3, 4]);
  const [asked] = provider.requests;
  expect(asked?.headers.authorization).toBe(`Bearer ${SECRET}`);
  expect(String(asked?.body.messages[1]?.content)).toContain(`"from":"agent","text":"Hello ${ANA}."`);
  expect(await client.judge(request)).toMatchObject({ added: { judged: 0, failed: 0 }, stands: { judged: TRIALS } });
  expect(provider.requests).toHaveLength(TRIALS);
  expect((await client.estimateJudging(request)).trials).toBe(0);
  const shown = await client.show((await client.trials(batch))[0]?.id ?? '');
  expect(shown.judgements).toMatchObject([{ series: { rubric: 'tone' }, judgement: { category: 'kind', reason: `It greeted ${ANA}.` } }]);
  // What it said is encrypted, its category is not, and no key is anywhere.
  const [stored] = await rows('select category, reason::text, judge::text from trialbed.judgements j join trialbed.judge_series s on s.id = j.series');
  expect(stored).toMatchObject({ category: 'kind', reason: expect.stringContaining('"sealed":1') });
  expect(stored.judge).not.toContain(KEY);
  expect((await client.audit()).map(({ action, target }) => [action, target])).toContainEqual(['judge', batch]);
});

test('is broken off without a loss: what is under way is kept, and the same request does the rest', async () => {
  const stop = new AbortController();
  const second = Promise.withResolvers<void>();
  const { provider, request } = await judge('broken-off', async (_request, number) => {
    if (number === 2) {
      // Whoever asks the same meanwhile would pay for it twice.
      await expect(client.judge(request)).rejects.toMatchObject({ code: 'judge_refused', message: expect.stringContaining('another process') });
      stop.abort(new Error('Ctrl-C'));
      await second.promise;
    }
    return kind();
  });
  const ended = client.judge({ ...request, concurrency: 1, signal: stop.signal });
  stop.signal.addEventListener('abort', () => second.resolve());
  await expect(ended).rejects.toThrow('Ctrl-C');
  expect(await client.judge(request)).toMatchObject({ added: { judged: TRIALS - 2 }, stands: { judged: TRIALS } });
  expect(provider.requests).toHaveLength(TRIALS);
});

test('a reply that does not count is an error of that judgement, which stands until it is asked for again', async () => {
  let good = false;
  const { provider, request } = await judge('bad', (_request, number) => (good || number > 2 ? kind() : says('I would say kind.')));
  expect(await client.judge({ ...request, concurrency: 1 })).toMatchObject({
    added: { judged: 2, failed: 2 },
    stands: { judged: 2, failed: 2 },
    problems: { bad_reply: 2 },
  });
  expect(await client.judge(request)).toMatchObject({ added: { judged: 0, failed: 0 } });
  good = true;
  const mended = await client.judge({ ...request, retryFailed: true });
  expect(mended).toMatchObject({ added: { judged: 2 }, stands: { judged: TRIALS, failed: 0 }, tokens: { input: 600, output: 120 } });
  expect(provider.requests).toHaveLength(TRIALS + 2);
});

test('trouble of the provider is tried again, and then ends it without a judgement', async () => {
  let broken = true;
  const { provider, request } = await judge(
    'trouble',
    (_request, number) => (number === 2 || (broken && number > 2) ? { status: 503, headers: { 'retry-after': '0' } } : kind()),
    { retries: 1 },
  );
  await expect(client.judge({ ...request, concurrency: 1 })).rejects.toMatchObject({
    code: 'judge_stopped',
    judged: 1,
    message: expect.stringContaining('1 judgements are kept, and the same command goes on with the 3 that are left'),
  });
  expect(provider.requests).toHaveLength(3);
  broken = false;
  expect(await client.judge(request)).toMatchObject({ added: { judged: 3, failed: 0 } });
});

test('a request that is refused, a missing key and a limit of money', async () => {
  const refused = await judge('refused', () => ({ status: 400, text: '{"error": {"message": "too long"}}' }));
  expect(await client.judge(refused.request)).toMatchObject({ added: { judged: 0, failed: TRIALS } });
  const keyless = await judge('keyless', kind, { key: 'JUDGE_NO_SUCH_KEY' });
  await expect(client.judge(keyless.request)).rejects.toMatchObject({
    code: 'judge_setup',
    message: 'route tiny needs a key in the variable JUDGE_NO_SUCH_KEY, which holds none here',
  });
  const dear = await judge('dear', kind);
  const limited = { ...dear.request, concurrency: 1, maxCost: { amount: 0.005, currency: 'USD' } };
  expect(await client.judge(limited)).toMatchObject({ added: { judged: 2 }, stands: { open: 2 }, stopped: 'max_cost' });
  expect(await client.judge(limited)).toMatchObject({ added: { judged: 0 }, stopped: 'max_cost' });
  await expect(client.judge({ ...limited, maxCost: { amount: 1, currency: 'EUR' } })).rejects.toMatchObject({ code: 'judge_refused' });
  await expect(client.judge({ ...dear.request, rubric: 'tonne' })).rejects.toMatchObject({
    code: 'suite_file',
    message: expect.stringContaining('did you mean "tone"?'),
  });
  await expect(client.judge({ ...dear.request, batch: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a changed rubric or model is another series, and a rubric that changed under its version is refused once somebody judged by it', async () => {
  const { provider, write, request } = await judge('changed', kind);
  await client.estimateJudging(request);
  // Nobody has judged by it yet.
  await write({ question: 'Was it kind?' });
  const first = await client.judge(request);
  await write({ question: 'Was it rude?' });
  await expect(client.judge(request)).rejects.toMatchObject({
    code: 'store_conflict',
    message: expect.stringContaining('give the changed rubric a new version'),
  });
  await write({ question: 'Was it rude?', version: '2' });
  const second = await client.judge(request);
  await writeFile(join(folder, 'other.yaml'), stringify({ url: provider.url, model: 'other' }));
  const third = await client.judge({ ...request, model: join(folder, 'other.yaml') });
  expect(new Set([first, second, third].map(({ series }) => series.id)).size).toBe(3);
  const judged = (await client.judging(batch)).filter(({ series }) => series.rubric === 'changed');
  expect(judged.map(({ series, judgements }) => [series.version, series.route, judgements.length])).toEqual([
    ['1', 'tiny', TRIALS],
    ['2', 'tiny', TRIALS],
    ['2', 'other', TRIALS],
  ]);
});

test('people who agree calibrate it, in whatever batch; then a gate takes it, and a report says so', async () => {
  const { request } = await judge('calibrated', (_request, number) => (number % 2 === 0 ? kind() : says('{"category": "rude", "reason": "It did not ask."}')));
  const { series } = await client.judge(request);
  const out = join(folder, 'report');
  const gated = async () => (await writeBatchReport(client, { batch, folder: out, gates: ['judge[calibrated]>=0.5'], formats: ['json'] })).data;
  const before = await gated();
  expect(before.summary).toMatchObject({ gate: 'not_met', gates: [{ result: 'not_judged', reason: expect.stringContaining('people labelled 0 of the 10') }] });
  const others = await Promise.all(['second', 'third'].map(ran));
  for (const other of others) await client.judge({ ...request, batch: other });
  for (const of of [batch, ...others])
    for (const { trial, attempt, category } of await testbed.root.store.judging.judgements(of, series.id))
      await testbed.root.store.judging.putLabel({
        ...{ trial, attempt, rubric: series.rubric, version: series.version, digest: series.digest, rater: 'ana' },
        ...{ category: category ?? '', note: `Says ${ANA}`, at: new Date().toISOString() },
      });
  const after = await gated();
  expect(after.judges.find(({ series: own }) => own.id === series.id)?.standing).toMatchObject({ calibrated: true, labels: 12, kappa: { kappa: 1 } });
  expect(after.summary).toMatchObject({ gate: 'met', gates: [{ result: 'met', figure: 0.5 }] });
});

test('what judges and people wrote goes with a person, with the conversation and with the batch; what they decided stays', async () => {
  const text = async () =>
    JSON.stringify([
      await client.judging(batch),
      await testbed.root.store.judging.labels((await client.judging(batch)).find(({ series }) => series.rubric === 'calibrated')?.series.digest ?? ''),
    ]);
  expect(await text()).toContain(ANA);
  const purged = await client.purgeSubject(ANA);
  expect(purged.values).toMatchObject({ judgements: expect.any(Number), labels: 12 });
  expect(await text()).not.toContain(ANA);
  expect(await text()).toContain('[removed]');
  await sql.query(`update trialbed.attempts set ended_at = now() - interval '50 days'`);
  await sql.query(`update trialbed.batches set finished_at = now() - interval '50 days'`);
  const settingsFile = join(folder, 'settings.yaml');
  await writeFile(settingsFile, 'retention: { conversation: 40d }\n');
  await client.purge({ settingsFile });
  expect(await rows('select 1 from trialbed.judgements where reason is not null or problem is not null')).toEqual([]);
  expect(await rows('select 1 from trialbed.labels where note is not null')).toEqual([]);
  expect((await rows('select 1 from trialbed.judgements where category is not null')).length).toBeGreaterThan(TRIALS);
  // Without the conversation nobody can be asked again.
  const late = await judge('late', kind);
  expect(await client.judge(late.request)).toMatchObject({ added: { judged: 0 }, stands: { open: TRIALS, unjudgeable: TRIALS } });
  expect(late.provider.requests).toHaveLength(0);
  await writeFile(settingsFile, 'retention: { verdicts: 40d }\n');
  await client.purge({ settingsFile });
  expect(await rows('select 1 from trialbed.judgements union all select 1 from trialbed.labels')).toEqual([]);
});
