import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { says } from '../../src/domain/text/says.ts';
import { RetailDataError } from '../../src/environments/retail/data.ts';
import retail from '../../src/environments/retail/pack.ts';
import { readTasks } from '../../src/environments/retail/tasks.ts';
import { importTauBench } from '../../src/suite/import-tau-bench.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';

const datasets = await requireOrSkip('datasets');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-retail-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('import of a small data folder', () => {
  it('writes a suite whose data path is relative, and a case for each task', async () => {
    const data = await smallData();
    const result = await importTauBench({ data, out: join(folder, 'suite') });
    expect(result).toEqual({ suite: join(folder, 'suite', 'suite.yaml'), cases: 4, written: 5, unchanged: 0, kept: [] });
    expect(await yaml('suite/suite.yaml')).toMatchObject({ environment: { use: 'retail', with: { data: '../data' } }, user: { role: 'agent' } });
    expect(await yaml('suite/cases/test-0.yaml')).toEqual({
      title: 'You are Ann. Cancel it.',
      kind: 'cancel_pending_order',
      tags: ['test', 'answer'],
      request: 'You are Ann. Cancel it.',
      user: { name: 'ann_1' },
      expect: {
        outcomes: [{ name: 'gold', same_as: 'reference' }],
        claims: [{ claim: 'text', name: 'says 20.5', rule: { says: ['20.5'] } }],
        repeated_writes: 'forbid_attempts',
      },
      reference: { steps: [{ call: 'cancel_pending_order', with: CANCEL }], answer: 'That is done.\n20.5' },
      mutants: [{ mutant: 'add:*', why: expect.stringContaining('nothing changes') }],
    });
  });

  it('writes customers who answer, in their own words, where that is asked for', async () => {
    const data = await smallData();
    await writeTasks(
      data,
      [task([CANCEL_CALL], [])].map((one) => ({
        ...one,
        user_id: 'ann_lee_1',
        instruction: "Your name is Ann Lee and your zip code is 12345. You want to cancel it. You're in a hurry.",
      })),
    );
    await importTauBench({ data, out: join(folder, 'suite'), user: 'script' });
    const whole = "My name is Ann Lee and my zip code is 12345. I want to cancel it. I'm in a hurry.";
    expect(await yaml('suite/cases/test-0.yaml')).toMatchObject({
      request: 'Hello, I need some help, please.',
      conversation: {
        user: 'script',
        rules: [{ say: 'My name is Ann Lee and my zip code is 12345.' }, { say: [whole, `As I said: ${whole}`] }, {}, { end: true }],
        otherwise: [whole, 'Please go on, as I said.'],
      },
      reference: { steps: [{ say: expect.stringContaining('name') }, { say: expect.any(String) }, { call: 'cancel_pending_order', with: CANCEL }] },
    });
    const { cases } = await loadSuite(join(folder, 'suite'));
    expect(cases[0]?.kase.conversation?.user).toBe('script');
  });

  it('knows what changes nothing by playing the solution: refused writes, and writes of what is there', async () => {
    const data = await smallData();
    const { suite } = await importTauBench({ data, out: join(folder, 'suite') });
    const { cases } = await loadSuite(suite);
    expect(cases.map(({ kase }) => [kase.id, kase.kind, kase.expectsNothing])).toEqual([
      ['test-0', 'cancel_pending_order', false],
      ['test-1', 'cancel_pending_order', true],
      ['test-2', 'several', true],
      ['test-3', 'no_write', false],
    ]);
    expect(cases.map(({ kase }) => kase.permission)).toEqual(cases.map(() => ({ user: 'ann_1', role: 'agent', tools: expect.any(Array), attributes: {} })));
    expect(retail({ data }).name).toBe('retail');
  });

  it('explains mutants by what the solution does: writes that are refused, overwritten later, or of what is there', async () => {
    const data = await smallData();
    const move = (address1: string) => ({ name: 'modify_user_address', kwargs: { user_id: 'ann_1', ...ADDRESS, address1 } });
    await writeTasks(data, [
      task([move('2 Road'), move('3 Road'), CANCEL_CALL], []),
      task([{ name: 'cancel_pending_order', kwargs: { ...CANCEL, order_id: '#W9' } }, move('1 Road')], []),
      task([move('2 Road'), move('1 Road')], []),
    ]);
    const { suite } = await importTauBench({ data, out: join(folder, 'suite') });
    const { cases } = await loadSuite(suite);
    expect(cases.map(({ kase }) => kase.mutants.map(({ mutant }) => mutant))).toEqual([
      ['add:*', 'drop:1', 'alter:1:*'],
      ['add:*', 'drop:1', 'repeat:1', 'alter:1:*', 'drop:2', 'alter:2:*'],
      // Each of them shows once the other is not there.
      ['add:*', 'drop:1', 'alter:1:*'],
    ]);
  });

  it('keeps what was edited, replaces what was not, and replaces all when forced', async () => {
    const request = { data: await smallData(), out: join(folder, 'suite') };
    await importTauBench(request);
    expect(await importTauBench(request)).toMatchObject({ written: 0, unchanged: 5, kept: [] });

    const edited = join(folder, 'suite', 'cases', 'test-0.yaml');
    await writeFile(edited, (await readFile(edited, 'utf8')).replace('That is done.', 'It is cancelled.'));
    await writeTasks(request.data, [task([CANCEL_CALL], []), task([], ['other'])]);
    expect(await importTauBench(request)).toMatchObject({ cases: 2, written: 1, unchanged: 1, kept: [edited] });
    expect(await readFile(edited, 'utf8')).toContain('It is cancelled.');
    expect(await importTauBench({ ...request, force: true })).toMatchObject({ written: 1, kept: [] });
    expect(await readFile(edited, 'utf8')).not.toContain('It is cancelled.');
  });

  it('keeps the cases of the other split', async () => {
    const data = await smallData();
    await writeFile(join(data, 'tasks_retail_dev.json'), JSON.stringify([task([CANCEL_CALL], [])]));
    await importTauBench({ data, out: join(folder, 'suite') });
    const { suite } = await importTauBench({ data, out: join(folder, 'suite'), split: 'dev' });
    expect((await loadSuite(suite)).cases.map(({ kase }) => kase.id)).toContain('dev-0');
    expect(await yaml('suite/suite.yaml')).toMatchObject({ title: 'tau-bench retail: test, dev' });
  });

  it.each([
    [
      'an unknown tool',
      [task([{ name: 'cancel_pendng_order', kwargs: CANCEL }], [])],
      /action 0: unknown tool "cancel_pendng_order" \(did you mean "cancel_pending_order"\?\)/,
    ],
    ['a missing argument', [task([{ name: 'cancel_pending_order', kwargs: { order_id: '#W1' } }], [])], /task 0, action 0: cancel_pending_order: reason/],
    ['a reference to a step', [task([{ name: 'think', kwargs: { thought: '${a.b}' } }], [])], /a step cannot say/],
    ['an empty output', [task([], [' '])], /task 0\.outputs\.0: expected a text that can be said/],
    ['no list', { tasks: [] }, /tasks_retail_test\.json, task list/],
  ])('refuses %s, and writes nothing', async (_, tasks, message) => {
    const data = await smallData();
    await writeFile(join(data, 'tasks_retail_test.json'), JSON.stringify(tasks));
    const importing = importTauBench({ data, out: join(folder, 'suite') });
    await expect(importing).rejects.toThrow(RetailDataError);
    await expect(importing).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual(['data']);
  });

  it('refuses a folder without the data, naming each file', async () => {
    await mkdir(join(folder, 'data'));
    await expect(importTauBench({ data: join(folder, 'data'), out: join(folder, 'suite') })).rejects.toThrow(/users\.json does not exist.*\n.*orders\.json/);
    await expect(importTauBench({ data: join(folder, 'nowhere'), out: join(folder, 'suite') })).rejects.toThrow(/nowhere does not exist/);
  });

  it('refuses records that the rules of the shop could not read', async () => {
    const data = await smallData();
    await writeFile(join(data, 'orders.json'), JSON.stringify({ '#W1': { order_id: '#W1' } }));
    await expect(importTauBench({ data, out: join(folder, 'suite') })).rejects.toThrow(/orders\.json, #W1\.user_id/);
  });
});

describe.skipIf(!datasets.met)(skipTitle('import of the published data', datasets), () => {
  const data = join(DATASETS, 'tau-bench-retail');

  it('reads all tasks of both splits', () => {
    const tasks = readTasks(data, 'test');
    expect(tasks).toHaveLength(115);
    expect(tasks.flatMap((one) => one.gold)).toHaveLength(582);
    expect(tasks.flatMap((one) => one.outputs)).toHaveLength(62);
    expect(readTasks(data, 'dev')).toHaveLength(20);
  });

  it('makes cases that load, whose references say what has to be said, and of which 7 expect nothing', async () => {
    const { suite } = await importTauBench({ data, out: join(folder, 'suite') });
    const { cases } = await loadSuite(suite);
    expect(cases).toHaveLength(115);
    const claims = cases.flatMap(({ kase }) => kase.expect.claims.map((claim) => [kase.reference.answer, claim.name.replace(/^says /, '')] as const));
    expect(claims).toHaveLength(62);
    expect(claims.filter(([answer, text]) => !says(answer, text))).toEqual([]);
    const nothing = cases.filter(({ kase }) => kase.expectsNothing).map(({ kase }) => Number(kase.id.replace('test-', '')));
    expect(nothing.sort((a, b) => a - b)).toEqual([10, 12, 25, 50, 57, 65, 106]);
    const explained = (kind: string) => cases.flatMap(({ kase }) => kase.mutants.filter((one) => one.mutant.startsWith(kind)).map(() => kase.id));
    expect(explained('drop:').sort()).toEqual(['test-106', 'test-111', 'test-12', 'test-13', 'test-22', 'test-64']);
    expect(explained('repeat:').sort()).toEqual(['test-106', 'test-12', 'test-13', 'test-64']);
  });
});

const CANCEL = { order_id: '#W1', reason: 'no longer needed' };
const CANCEL_CALL = { name: 'cancel_pending_order', kwargs: CANCEL };
const ADDRESS = { address1: '1 Road', address2: '', city: 'Rome', state: 'NY', country: 'USA', zip: '13440' };

/** One user, one order, and tasks: a cancellation, a refused one, refused and idle writes, and a question. */
async function smallData(): Promise<string> {
  const data = join(folder, 'data');
  await mkdir(data);
  const methods = { gift_card_1: { source: 'gift_card', balance: 5, id: 'gift_card_1' } };
  const user = { name: { first_name: 'Ann', last_name: 'Lee' }, address: ADDRESS, email: 'ann@example.com', payment_methods: methods, orders: ['#W1'] };
  const order = {
    order_id: '#W1',
    user_id: 'ann_1',
    address: ADDRESS,
    items: [{ name: 'T-Shirt', product_id: '1', item_id: '2', price: 20.5, options: { size: 'M' } }],
    fulfillments: [],
    status: 'pending',
    payment_history: [{ transaction_type: 'payment', amount: 20.5, payment_method_id: 'gift_card_1' }],
  };
  const product = { name: 'T-Shirt', product_id: '1', variants: { '2': { item_id: '2', options: { size: 'M' }, available: true, price: 20.5 } } };
  await writeFile(join(data, 'users.json'), JSON.stringify({ ann_1: user }));
  await writeFile(join(data, 'orders.json'), JSON.stringify({ '#W1': order }));
  await writeFile(join(data, 'products.json'), JSON.stringify({ '1': product }));
  await writeFile(join(data, 'policy.md'), 'Be kind.');
  await writeFile(join(data, 'tool_schemas_retail.json'), '[]');
  await writeTasks(data, [
    task([CANCEL_CALL], ['20.5']),
    task([{ name: 'cancel_pending_order', kwargs: { ...CANCEL, reason: 'bored' } }], []),
    task(
      [
        { name: 'modify_user_address', kwargs: { user_id: 'ann_1', ...ADDRESS } },
        { name: 'return_delivered_order_items', kwargs: { order_id: '#W1', item_ids: ['2'], payment_method_id: 'gift_card_1' } },
      ],
      [],
    ),
    task([{ name: 'get_user_details', kwargs: { user_id: 'ann_1' } }], ['5']),
  ]);
  return data;
}

function task(actions: readonly object[], outputs: readonly string[]): object {
  return { user_id: 'ann_1', instruction: 'You are Ann. Cancel it.', actions, outputs };
}

async function writeTasks(data: string, tasks: readonly object[]): Promise<void> {
  await writeFile(join(data, 'tasks_retail_test.json'), JSON.stringify(tasks));
}

async function yaml(path: string): Promise<unknown> {
  return parse(await readFile(join(folder, path), 'utf8'));
}
