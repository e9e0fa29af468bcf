import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import { runCommandLine } from '../../src/cli/program.ts';
import type { Keys } from '../../src/cli/host.ts';
import type { Trialbed } from '../../src/client/api.ts';
import { trialbedOver } from '../../src/client/index.ts';
import { writeBatchReport } from '../../src/client/report.ts';
import { newKey } from '../../src/keys/key-ring.ts';
import { TestHost } from '../unit/cli-support.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const ANA = 'sofia@shop.dev';
const TOKEN = 'sk-live-0123456789abcdefghijklmn';
const AGENT = 'zebra-mini';
const HOSTILE = '<script>alert(1)</script>\u001b[2J\u202e';

let testbed: Testbed;
let client: Trialbed;
let sql: pg.Client;
let folder: string;
let suite: string;
let batch: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-labelling-'));
  testbed = await startTestbed(inject('services'), { config: { keys: [newKey('labels')] } });
  client = trialbedOver(testbed.root, async () => {});
  sql = new pg.Client({ connectionString: testbed.config.store.url });
  await sql.connect();
  const answer = (text: string) => ({
    request: `${HOSTILE} Hello, I am ${ANA}. ${text}`,
    reference: { steps: [], answer: `${HOSTILE} Hello ${ANA}, ${TOKEN}` },
  });
  const more = { second: answer('second'), third: answer('third') };
  const made = await writeOneCaseSuite(folder, 'rated', {
    environment: 'support-desk',
    agent: { name: AGENT, kind: 'do-nothing' },
    kase: answer('first'),
    more,
  });
  suite = made.suite;
  await writeRubric({});
  const { summary } = await testbed.run({ suite, agents: ['reference', ...made.agents], trials: 2, keep: 'never', seed: 'labels' });
  expect(summary.trials).toBe(12);
  batch = summary.batch;
}, 90_000);

afterAll(async () => {
  await sql?.end();
  await testbed?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function writeRubric(more: object): Promise<void> {
  const scale = [
    { category: 'rude', means: 'It insulted the user.' },
    { category: 'kind', means: 'It did not.' },
  ];
  await mkdir(join(suite, 'rubrics'), { recursive: true });
  await writeFile(join(suite, 'rubrics', 'tone.yaml'), stringify({ version: '1', question: 'Was it polite?', scale, passes: ['kind'], ...more }));
}

/** A terminal at which these keys are pressed and these lines written; what comes after the last key is Ctrl-C. */
function terminal(keys: readonly string[], lines: readonly string[] = []) {
  const [left, written] = [[...keys], [...lines]];
  const reader = (): Keys => ({ next: async () => left.shift() ?? null, [Symbol.dispose]() {} });
  return new TestHost({ client: { labels: client.labels }, terminal: { columns: 100 }, keys: reader, ask: async () => written.shift() ?? null, cwd: folder });
}

const label = (host: TestHost, ...flags: string[]) => runCommandLine(['label', batch, '--rubric', 'tone', ...flags], host);
const stored = async (rater: string) => (await sql.query('select trial, category, note::text from trialbed.labels where rater = $1', [rater])).rows;

test('a person labels blind at the terminal, each label is stored at once, and the same command goes on where it stopped', async () => {
  const first = terminal(['1', 'x', '2', 's', 'b', 'n', '2'], [`warm to ${ANA}`]);
  expect(await label(first, '--as', 'petra')).toBe(130);
  expect((await stored('petra')).map(({ category }) => category).sort()).toEqual(['kind', 'kind', 'rude']);
  expect(first.stderr).toContain('this key means nothing here');
  expect(first.stderr).toContain('3 labelled now, 9 of 12 left; the same command goes on');
  // What the agent said is there and harmless; who acted, the trial and its verdict are not.
  expect(first.stdout).toContain('\\x1b[2J\\u{202e} Hello');
  expect(first.stdout).not.toMatch(/\u001b\[2J|\u202e/);
  for (const secret of [AGENT, 'reference', batch, 'pass', 'undetermined', 'do-nothing']) expect(first.stdout + first.stderr).not.toContain(secret);
  // A note is encrypted, a category is not.
  expect((await stored('petra')).filter(({ note }) => note !== null).map(({ note }) => note)).toEqual([expect.stringContaining('"sealed":1')]);
  const second = terminal(['2', 'q']);
  expect(await label(second, '--as', 'petra')).toBe(0);
  expect(second.stdout).toContain('3 of 12 labelled');
  expect(second.stdout).not.toContain('0 of 12 labelled');
  expect(await stored('petra')).toHaveLength(4);
  // Back, and another category in place of the first.
  const third = terminal(['2', 'b', '1', 'q']);
  await label(third, '--as', 'petra');
  expect(await stored('petra')).toHaveLength(5);
  const rest = terminal(Array.from({ length: 7 }, () => '2'));
  expect(await label(rest, '--as', 'petra')).toBe(0);
  expect(rest.stderr).toMatch(/7 labelled now, 0 of 12 left[\s\S]*how raters agree: trialbed agreement/);
});

test('labels come from a file as well: all of them or none, each problem with its line and column', async () => {
  const listing = new TestHost({ client: { labels: client.labels }, cwd: folder });
  expect(await label(listing, '--as', 'omar', '--json')).toBe(0);
  const [head, ...items] = listing.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(head).toMatchObject({ type: 'labelling', rater: 'omar', question: 'Was it polite?', items: 12, open: 12 });
  expect(listing.stdout).not.toContain(AGENT);
  expect(listing.stdout).not.toContain(batch.concat('-'));
  const mine = (await client.labels.open({ batch, rubric: 'tone', rater: 'petra' })).items.map(({ item }) => item);
  expect(items.map(({ item }: { item: string }) => item)).not.toEqual(mine);
  const file = join(folder, 'labels.jsonl');
  const write = (lines: readonly object[]) => writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  await write([
    { item: items[0].item, category: 'kind' },
    { item: mine[0], category: 'kind' },
    { item: items[0].item, category: 'rude' },
    { trial: 'b-1', category: 'kind' },
  ]);
  const wrong = new TestHost({ client: { labels: client.labels }, cwd: folder });
  expect(await label(wrong, '--as', 'omar', '--from', 'labels.jsonl')).toBe(2);
  expect(wrong.stderr).toMatch(
    /labels\.jsonl:2:1: .* is no item of omar[\s\S]*labels\.jsonl:3:1: omar has labelled this in line 1 already[\s\S]*labels\.jsonl:4:1: "b-1" is no trial/,
  );
  expect(await stored('omar')).toHaveLength(0);
  await write(items.map(({ item }: { item: string }, at: number) => ({ item, category: at < 2 ? 'rude' : 'kind', note: `Note of omar on ${TOKEN}` })));
  const right = new TestHost({ client: { labels: client.labels }, cwd: folder });
  expect(await label(right, '--as', 'omar', '--from', 'labels.jsonl')).toBe(0);
  expect(right.stdout).toBe('omar: 12 labels by rubric tone stored\n');
  expect(await label(right, '--as', 'omar', '--from', 'labels.jsonl')).toBe(0);
  expect(right.stdout).toContain('omar: 12 labels by rubric tone stored, 12 in place of earlier ones');
  for (const [flags, why] of [
    [['--as', 'a@b.org', '--json'], 'is no name of a rater'],
    [[], 'there is no terminal'],
  ] as const) {
    const host = new TestHost({ client: { labels: client.labels } });
    expect(await label(host, ...flags)).toBe(2);
    expect(host.stderr).toContain(why);
  }
  const misspelt = new TestHost({ client: { labels: client.labels } });
  expect(await runCommandLine(['label', batch, '--rubric', 'tome', '--json'], misspelt)).toBe(2);
  expect(misspelt.stderr).toContain('tone');
});

test('agreement is told of two people and of a judge with people, exported with what raters saw, and stands in every report', async () => {
  const { store } = testbed.root;
  const { stored: rubric, items } = await client.labels.open({ batch, rubric: 'tone', rater: 'petra' });
  const judge = { api: 'openai', url: 'http://127.0.0.1:1', model: 'tiny', seed: null, parameters: {} } as const;
  const series = { id: '0123456789abcdef', rubric: 'tone', version: '1', digest: rubric.digest, route: 'small', judge, prompt: '1' };
  await store.judging.putSeries(series);
  const trials = await store.trials(batch);
  for (const [at, { id: trial, attempt }] of trials.entries())
    await store.judging.addJudgement({
      ...{
        series: series.id,
        trial,
        attempt,
        category: at === 0 ? 'rude' : 'kind',
        reason: `It greeted ${ANA} with ${TOKEN}.`,
        problem: null,
        shortened: false,
      },
      ...{ usage: null, price: null, reported: null, latencyMs: null, tries: 1, at: new Date().toISOString() },
    });
  expect(items).toHaveLength(12);
  const out = join(folder, 'out');
  const host = new TestHost({ client: { labels: client.labels }, cwd: folder });
  expect(await runCommandLine(['agreement', batch, '--rubric', 'tone', '--export', 'out'], host)).toBe(0);
  expect(host.stdout).toMatch(/judge tone 1 by small \(01234567\) and people\n {2}kappa .* on \d+ trials?/);
  expect(host.stdout).toMatch(/omar and petra|petra and omar/);
  const told = new TestHost({ client: { labels: client.labels }, cwd: folder });
  expect(await runCommandLine(['agreement', batch, '--rubric', 'tone', '--json'], told)).toBe(0);
  const agreement = JSON.parse(told.stdout);
  expect(agreement).toMatchObject({ type: 'agreement', rubric: 'tone', scale: ['rude', 'kind'], raters: [{ labels: 12 }, { labels: 12 }] });
  const people = agreement.pairs.find(({ kind }: { kind: string }) => kind === 'people');
  expect(people.table.flat().reduce((sum: number, count: number) => sum + count, 0)).toBe(12);
  // An export holds no secret and no address, and only its owner reads it.
  const lines = (await readFile(join(out, 'disagreements.jsonl'), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(agreement.disagreements.length);
  const example = JSON.parse(lines[0] ?? '');
  expect(example).toMatchObject({ type: 'disagreement', rubric: 'tone', batch, shown: { conversation: [{ from: 'user' }, { from: 'agent' }] } });
  const markdown = await readFile(join(out, 'disagreements.md'), 'utf8');
  for (const text of [lines.join('\n'), markdown]) {
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(ANA);
    expect(text).not.toMatch(/\u001b\[2J"|\u202e\n/);
  }
  expect(markdown).toContain('Was it polite?');
  expect((await stat(join(out, 'disagreements.jsonl'))).mode & 0o777).toBe(0o600);
  // The report.
  const { files } = await writeBatchReport(client, { batch, folder: join(folder, 'report') });
  const texts = await Promise.all([files.markdown, files.html, files.csv, files.junit, files.json].map((file) => readFile(file ?? '', 'utf8')));
  const [md = '', html = '', csv = '', junit = '', json = ''] = texts;
  expect(md).toMatch(/## Agreement of raters[\s\S]*judge tone 1 by small[\s\S]*\| `rude` \|/);
  expect(html).toMatch(/Agreement of raters[\s\S]*Agreement by tone 1/);
  expect(csv.split('\r\n')[0]).toMatch(/people tone 1 \([0-9a-f]{8}\)$/);
  expect(junit).toContain('agreement by tone 1: judge tone 1 by small');
  expect(JSON.parse(json).raters).toMatchObject([{ rubric: 'tone', raters: [{ labels: 12 }, { labels: 12 }] }]);
});

test('another text of the rubric is another scale: its labels are counted apart, and a changed text needs another version', async () => {
  await writeRubric({ question: 'Was it rude?' });
  await expect(client.labels.agreement({ batches: [batch], rubric: 'tone' })).rejects.toThrow(/version is 1 still/);
  await writeRubric({ question: 'Was it rude?', version: '2' });
  const agreement = await client.labels.agreement({ batches: [batch], rubric: 'tone' });
  expect(agreement).toMatchObject({ version: '2', raters: [], pairs: [], otherTexts: [{ version: '1', labels: 24 }] });
  const { items } = await client.labels.open({ batch, rubric: 'tone', rater: 'petra' });
  expect(items.filter(({ label }) => label !== null)).toHaveLength(0);
  await writeRubric({});
});

test('a removed person is in no note, a trial that begins anew takes its labels with it, and the console lists what is to be labelled', async () => {
  expect((await client.purgeSubject(ANA, { dryRun: true })).values['labels']).toBe(1);
  await client.purgeSubject(ANA);
  const { items } = await client.labels.open({ batch, rubric: 'tone', rater: 'petra' });
  expect(items.flatMap(({ label }) => label?.note ?? [])).toEqual(['[removed]']);
  const { store } = testbed.root;
  const task = () => store.judging.labelTasks('petra', 10);
  expect(await task()).toMatchObject([{ batch, suite: 'rated', rubric: 'tone', version: '1', trials: 12, labelled: 12 }]);
  const [trial] = await store.trials(batch);
  await store.requeue(trial?.id ?? '');
  await store.beginAttempt(trial?.id ?? '', 2, new Date().toISOString());
  expect(await task()).toMatchObject([{ trials: 11, labelled: 11 }]);
  expect((await client.labels.open({ batch, rubric: 'tone', rater: 'petra' })).items).toHaveLength(11);
});
