import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCall } from '../../src/environments/workbench/calls.ts';
import { DOMAINS } from '../../src/environments/workbench/domains.ts';
import workbench from '../../src/environments/workbench/pack.ts';
import { readTasks, WorkbenchDataError } from '../../src/environments/workbench/tasks.ts';
import { importWorkbench } from '../../src/suite/import-workbench.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';

const datasets = await requireOrSkip('datasets');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-workbench-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('import of a small data folder', () => {
  it('writes a suite whose data path is relative, and a case for each row', async () => {
    const data = await smallData();
    const result = await importWorkbench({ data, domains: ['email'], out: join(folder, 'suite') });
    expect(result).toEqual({ suite: join(folder, 'suite', 'suite.yaml'), cases: 2, written: 3, unchanged: 0, kept: [] });
    expect(await yaml('suite/suite.yaml')).toMatchObject({
      environment: { use: 'workbench', with: { data: '../data', domains: ['email'] } },
      clock: '2023-11-30T00:00:00+00:00',
      timezone: 'UTC',
      user: { name: 'sam', role: 'assistant' },
    });
    expect(await yaml('suite/cases/email-0.yaml')).toEqual({
      title: `Delete "it's done", please`,
      kind: 'email',
      tags: ['email', 'template-delete-subject-please'],
      request: `Delete "it's done", please`,
      user: {
        tools: [
          'company_directory.find_email_address',
          'email.get_email_information_by_id',
          'email.search_emails',
          'email.send_email',
          'email.delete_email',
          'email.forward_email',
          'email.reply_email',
        ],
      },
      expect: { outcomes: [{ name: 'gold', same_as: 'reference' }] },
      reference: { steps: [{ call: 'email.delete_email', with: { email_id: '00000001' } }], answer: 'That is done.' },
      mutants: [{ mutant: 'add:*', why: expect.stringContaining('nothing changes') }],
    });
    expect(await yaml('suite/cases/email-1.yaml')).toMatchObject({ expects_nothing: true, reference: { steps: [], answer: 'Nothing had to be changed.' } });
  });

  it('writes files that load as a suite, with the data found from the folder of the suite', async () => {
    const data = await smallData();
    const { suite } = await importWorkbench({ data, domains: ['email'], out: join(folder, 'suite') });
    const loaded = await loadSuite(suite);
    expect(loaded.environment.options).toEqual({ data, domains: ['email'] });
    expect(workbench(loaded.environment.options).name).toBe('workbench');
    expect(loaded.cases.map(({ kase }) => [kase.id, kase.permission.user, kase.permission.role, kase.expectsNothing, kase.clock])).toEqual([
      ['email-0', 'sam', 'assistant', false, '2023-11-30T00:00:00+00:00'],
      ['email-1', 'sam', 'assistant', true, '2023-11-30T00:00:00+00:00'],
    ]);
  });

  it('keeps what was edited, replaces what was not, and replaces all when forced', async () => {
    const request = { data: await smallData(), domains: ['email'], out: join(folder, 'suite') };
    await importWorkbench(request);
    expect(await importWorkbench(request)).toMatchObject({ written: 0, unchanged: 3, kept: [] });

    const edited = join(folder, 'suite', 'cases', 'email-0.yaml');
    await writeFile(edited, (await readFile(edited, 'utf8')).replace('That is done.', 'It is gone.'));
    await writeTasks(request.data, [deletion(SOLUTION), ['Other request', '[]', 'Other', "['email']"]]);
    expect(await importWorkbench(request)).toMatchObject({ written: 1, unchanged: 1, kept: [edited] });
    expect(await readFile(edited, 'utf8')).toContain('It is gone.');
    expect(await yaml('suite/cases/email-1.yaml')).toMatchObject({ request: 'Other request' });

    expect(await importWorkbench({ ...request, force: true })).toMatchObject({ written: 1, unchanged: 2, kept: [] });
    expect(await readFile(edited, 'utf8')).toContain('That is done.');
  });

  it.each([
    ['an unknown domain', ['emial'], async () => undefined, /unknown domain "emial" \(did you mean "email"\?\)/],
    ['no domain', [], async () => undefined, /no domain is named; known are email/],
    ['a missing file of rows', ['email'], (data: string) => rm(join(data, 'emails.csv')), /emails\.csv does not exist/],
    ['a missing directory', ['email'], (data: string) => rm(join(data, 'email_addresses.csv')), /email_addresses\.csv does not exist/],
    ['a missing task file', ['calendar'], async () => undefined, /calendar_queries_and_answers\.csv does not exist/],
    [
      'a misspelt column',
      ['email'],
      (data: string) => writeFile(join(data, 'emails.csv'), 'email_id,inbox/outbox,sender/recipient,subjekt,sent_datetime,body\n'),
      /has no column "subject" \(it has "subjekt"\)/,
    ],
    [
      'an unknown tool',
      ['email'],
      (data: string) => writeTasks(data, [deletion(`['email.delete_mail.func(email_id="1")']`)]),
      /row 0: unknown tool "email\.delete_mail" \(did you mean "email\.delete_email"\?\)/,
    ],
    [
      'an unknown argument',
      ['email'],
      (data: string) => writeTasks(data, [deletion(`['email.delete_email.func(id="1")']`)]),
      /call of email\.delete_email: Unrecognized key: "id"/,
    ],
    [
      'a call that does not parse',
      ['email'],
      (data: string) => writeTasks(data, [deletion(`['email.delete_email.func(email_id="1"']`)]),
      /row 0: call .*: expected "\)"/,
    ],
    ['a solution that is no list', ['email'], (data: string) => writeTasks(data, [deletion('x')]), /column "answer" is no list of strings: expected "\["/],
    [
      'a value that a step cannot say',
      ['email'],
      (data: string) => writeTasks(data, [deletion(`['email.delete_email.func(email_id="\${a}")']`)]),
      /holds "\$\{"/,
    ],
  ])('refuses %s and writes nothing', async (_, domains, spoil, message) => {
    const data = await smallData();
    await spoil(data);
    const importing = importWorkbench({ data, domains, out: join(folder, 'suite') });
    await expect(importing).rejects.toThrow(WorkbenchDataError);
    await expect(importing).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual(['data']);
  });

  it('names a data folder that does not exist', async () => {
    await expect(importWorkbench({ data: join(folder, 'nowhere'), domains: ['email'], out: join(folder, 'suite') })).rejects.toThrow(/nowhere/);
  });
});

describe.skipIf(!datasets.met)(skipTitle('import of the published data', datasets), () => {
  const data = join(DATASETS, 'workbench');

  it('reads the 690 solutions as they are published', () => {
    const gold = new Map(
      readFileSync(join(data, 'gold_mutations.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { domain: string; row: number; query: string; gold: string[] })
        .map((row) => [`${row.domain}-${row.row}`, row]),
    );
    const tasks = DOMAINS.flatMap((domain) => readTasks(data, domain));
    expect(tasks).toHaveLength(690);
    for (const task of tasks) {
      const row = gold.get(`${task.domain}-${task.row}`);
      expect(row?.query).toBe(task.query);
      expect(row?.gold.map(parseCall)).toEqual(task.gold.map((call) => ({ ok: true, ...call })));
    }
  });

  it('makes 170 cases of two domains, 22 of them without a change', async () => {
    const out = join(folder, 'suite');
    const result = await importWorkbench({ data, domains: ['email', 'project_management'], out });
    expect(result).toMatchObject({ cases: 170, written: 171 });
    const cases = await readCases(out);
    const nothing = cases.filter((kase) => kase.expects_nothing === true);
    expect(nothing.map((kase) => kase.kind).filter((kind) => kind === 'email')).toHaveLength(1);
    expect(nothing).toHaveLength(22);
    expect(new Set(cases.map((kase) => kase.tags[1])).size).toBe(17);
    expect(parse(await readFile(result.suite, 'utf8'))).toMatchObject({ environment: { with: { data: relative(out, data) } } });
    expect((await loadSuite(out)).cases).toHaveLength(170);
  });

  it('adds domains to a suite, and knows the updates that set what is there', async () => {
    const out = join(folder, 'suite');
    await importWorkbench({ data, domains: ['email'], out });
    await importWorkbench({ data, domains: ['customer_relationship_manager'], out });
    expect(await yaml('suite/suite.yaml')).toMatchObject({ environment: { with: { domains: ['email', 'customer_relationship_manager'] } } });
    await importWorkbench({ data, out });
    const cases = await readCases(out);
    expect(cases).toHaveLength(690);
    expect(cases.filter((kase) => kase.expects_nothing === true)).toHaveLength(124);
    const idle = cases.filter((kase) => (kase.mutants ?? []).some(({ mutant }) => mutant.startsWith('drop:')));
    expect(idle.map((kase) => [kase.kind, kase.expects_nothing])).toEqual([
      ['customer_relationship_manager', true],
      ['customer_relationship_manager', true],
    ]);
    expect(await yaml('suite/cases/customer_relationship_manager-31.yaml')).toMatchObject({ expects_nothing: true });
    // Two mails of one sender have one subject; the reply to either is the same mail.
    expect(await yaml('suite/cases/email-31.yaml')).toMatchObject({ mutants: [{ mutant: 'add:*' }, { mutant: 'alter:1:email_id' }] });
    const alike = cases.filter((kase) => (kase.mutants ?? []).some(({ mutant }) => mutant.endsWith(':email_id')));
    const mailed = cases.filter((kase) => kase.reference.steps.some(({ call }) => call === 'email.reply_email' || call === 'email.forward_email'));
    expect(alike.length).toBeLessThan(mailed.length);
    expect(new Set(cases.map((kase) => kase.tags[1])).size).toBe(69);
  });
});

interface WrittenCase {
  readonly kind: string;
  readonly tags: readonly string[];
  readonly expects_nothing?: boolean;
  readonly mutants?: readonly { readonly mutant: string }[];
  readonly reference: { readonly steps: readonly { readonly call: string }[] };
}

async function readCases(out: string): Promise<readonly WrittenCase[]> {
  const files = await readdir(join(out, 'cases'));
  return Promise.all(files.map(async (file) => parse(await readFile(join(out, 'cases', file), 'utf8')) as WrittenCase));
}

async function yaml(file: string): Promise<unknown> {
  return parse(await readFile(join(folder, file), 'utf8'));
}

async function smallData(): Promise<string> {
  const data = join(folder, 'data');
  await mkdir(join(data, 'queries_and_answers'), { recursive: true });
  await writeFile(join(data, 'email_addresses.csv'), 'ada@atlas.com\n');
  await writeFile(
    join(data, 'emails.csv'),
    'email_id,inbox/outbox,sender/recipient,subject,sent_datetime,body\n00000001,inbox,ada@atlas.com,it\'s done,2023-11-01 10:00:00,"Sam,\\nit\'s done"\n',
  );
  await writeTasks(data, [deletion(SOLUTION), NOTHING]);
  return data;
}

/** One row of a task file: query, answer, template, domains. */
type Row = readonly [string, string, string, string];

const NOTHING: Row = ['Delete nothing', '[]', 'Delete nothing', "['email']"];

function deletion(answer: string): Row {
  return [`Delete "it's done", please`, answer, 'Delete {subject}, please', "['email']"];
}

const SOLUTION = `['email.delete_email.func(email_id="00000001")']`;

async function writeTasks(data: string, rows: readonly Row[]): Promise<void> {
  const lines = rows.map(([query, answer, template, domains]) => [query, answer, template, template, domains].map(quote).join(','));
  await writeFile(
    join(data, 'queries_and_answers', 'email_queries_and_answers.csv'),
    `"query","answer","base_template","chosen_template","domains"\n${lines.join('\n')}\n`,
  );
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
