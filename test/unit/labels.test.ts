import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TrialRecord } from '../../src/domain/record.ts';
import { isRaterName } from '../../src/domain/judging.ts';
import { SHOWN_PARTS } from '../../src/domain/rubric.ts';
import { readLabelFile } from '../../src/client/labels/label-file.ts';
import { raterNameOf } from '../../src/client/labels/rater-name.ts';
import { categoryKeys, LABEL_KEYS } from '../../src/judges/label-keys.ts';
import { labelOrder } from '../../src/judges/label-order.ts';
import { LabelWalk } from '../../src/judges/label-walk.ts';
import { materialOf } from '../../src/judges/material.ts';
import { FEW_TRIALS, raterAgreement } from '../../src/judges/rater-agreement.ts';

const trials = Array.from({ length: 40 }, (_, at) => `b-${at}`);

describe('the order of labelling', () => {
  it('is random by person and rubric, the same again, and says nothing of a trial', () => {
    const order = (rater: string, digest: string, of: readonly string[] = trials) => labelOrder(rater, digest, of).map(({ trial }) => trial);
    expect(order('ana', 'd1', trials.toReversed())).toEqual(order('ana', 'd1'));
    expect(new Set(order('ana', 'd1'))).toEqual(new Set(trials));
    const orders = [trials, order('ana', 'd1'), order('bo', 'd1'), order('ana', 'd2')].map(String);
    expect(new Set(orders).size).toBe(4);
    // What is added later moves none of the others.
    expect(order('ana', 'd1', [...trials, 'b-new']).filter((trial) => trial !== 'b-new')).toEqual(order('ana', 'd1'));
    for (const { item } of labelOrder('ana', 'd1', trials)) expect(item).toMatch(/^[0-9a-f]{32}$/);
  });

  it('is walked past what has a label and what is skipped, and back', () => {
    const walk = new LabelWalk([
      { item: 'a', labelled: true },
      { item: 'b', labelled: false },
      { item: 'c', labelled: false },
      { item: 'd', labelled: false },
    ]);
    expect(walk.back()).toBe(false);
    expect([walk.current, walk.progress]).toEqual(['b', { labelled: 1, of: 4 }]);
    walk.done();
    expect(walk.current).toBe('c');
    walk.skip();
    expect(walk.current).toBe('d');
    expect(walk.back()).toBe(true);
    expect(walk.current).toBe('c');
    expect(walk.back()).toBe(true);
    expect(walk.current).toBe('b');
    // Labelled again, it counts once.
    walk.done();
    expect([walk.current, walk.progress.labelled]).toEqual(['c', 2]);
    walk.done();
    walk.done();
    expect([walk.current, walk.progress]).toEqual([null, { labelled: 4, of: 4 }]);
    expect(walk.back()).toBe(true);
    expect(walk.current).toBe('d');
  });

  it('has a key for each category that means nothing else', () => {
    const keys = categoryKeys(Array.from({ length: 20 }, (_, at) => `c${at}`)).map(({ key }) => key);
    expect(new Set(keys).size).toBe(20);
    for (const taken of Object.values(LABEL_KEYS)) expect(keys).not.toContain(taken);
  });
});

const RECORD: TrialRecord = {
  ending: 'completed',
  operations: [
    {
      ...{ id: 'op-1', seq: 1, tool: 'find_order', actor: 'gpt-secret-triage', effect: 'write', args: { id: 7 }, idempotencyKey: null, position: 1 },
      ...{
        told: 'committed',
        known: 'committed',
        result: { ok: true },
        problem: null,
        detail: 'words of the database',
        durationMs: 3,
        at: '2026-03-02T08:30:00Z',
        disturbed: false,
      },
    },
  ],
  effects: [
    {
      kind: 'row',
      seq: 1,
      table: 'orders',
      change: 'update',
      key: { id: 7 },
      before: { id: 7, paid: false },
      after: { id: 7, paid: true },
      operation: 'op-1',
      at: '2026-03-02T08:30:00Z',
    },
    {
      ...{
        kind: 'mail',
        seq: 2,
        accepted: true,
        from: 'shop@example.com',
        subject: 'Paid',
        text: 'It is paid.',
        headers: {},
        messageId: null,
        attachments: [],
        violations: [],
      },
      ...{
        recipients: [
          { address: 'petra@example.com', code: 250 },
          { address: 'gone@example.com', code: 550 },
        ],
        operation: 'op-1',
        at: '2026-03-02T08:30:00Z',
      },
    },
  ],
  messages: [
    { turn: 1, from: 'user', text: 'Is it paid?' },
    { turn: 1, from: 'agent', text: 'Yes.', actor: 'gpt-secret-writer' },
    { turn: 1, from: 'agent', text: 'Which one?', operation: 'op-9', actor: 'gpt-secret-writer' },
  ],
  handOvers: [{ operation: 'op-2', from: 'gpt-secret-triage', to: 'gpt-secret-writer', text: 'yours', turn: 1 }],
  ...{ lateAttempts: [], tables: {}, referenceEffects: null, problem: { code: 'x', message: 'verdict-like words' } },
};

describe('what a rater sees', () => {
  it('is what the rubric shows, without the names of who acted', () => {
    const all = materialOf(RECORD, SHOWN_PARTS);
    expect(all.conversation?.map(({ from, text }) => [from, text])).toEqual([
      ['user', 'Is it paid?'],
      ['agent 2', 'Yes.'],
      ['agent 2', 'Which one?'],
    ]);
    // A question in between is no answer.
    expect(all.answer?.text).toBe('Yes.');
    expect(all.operations).toEqual([{ seq: 1, by: 'agent 1', tool: 'find_order', args: { id: 7 }, told: 'committed', problem: null, result: { ok: true } }]);
    expect(all.effects).toMatchObject([{ table: 'orders', change: 'update', call: 1, byOthers: false }]);
    expect(all.mail).toMatchObject([{ to: ['petra@example.com'], refused: ['gone@example.com'], call: 1 }]);
    expect(JSON.stringify(all)).not.toMatch(/gpt-secret|words/);
    expect(materialOf(RECORD, ['answer'])).toEqual({ conversation: null, answer: all.answer, operations: null, effects: null, mail: null, removed: [] });
  });

  it('carries the name of a person that is no mail address', () => {
    for (const [holder, name] of [
      ['petra@laptop', 'petra'],
      ['Petra Müller', 'Petra Müller'],
      ['<b>x</b>', 'b-x-b-'],
      ['@', 'somebody'],
      ['\u202e\u001b', 'somebody'],
      ['x'.repeat(300), 'x'.repeat(100)],
    ] as const) {
      expect(raterNameOf(holder)).toBe(name);
      expect(isRaterName(raterNameOf(holder))).toBe(true);
    }
  });
});

describe('a file of labels', () => {
  const read = async (text: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'trialbed-labels-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'labels.jsonl'), text);
    return readLabelFile(join(folder, 'labels.jsonl'), ['rude', 'kind']);
  };

  it('has a label a line', async () => {
    expect(await read('\ufeff{"item":"x","category":"kind","note":"warm"}\r\n\n{"trial":"b-1","category":"rude","rater":"bo"}\n')).toEqual([
      { line: 1, what: { item: 'x' }, category: 'kind', note: 'warm', rater: null },
      { line: 3, what: { trial: 'b-1' }, category: 'rude', note: null, rater: 'bo' },
    ]);
  });

  it('is refused with line and column of everything that is wrong', async () => {
    const lines = [
      '{"item":"x","category":"kidn"}',
      '{"item":"x","category":"kind",}',
      '{"category":"kind"}',
      '{"item":"x","trial":"y","category":"kind"}',
      '{"item":"x","categroy":"kind","category":"kind"}',
      '{"item":7,"category":"kind"}',
      '{"item":"x","category":"kind","rater":"ana@example.org"}',
      `{"item":"x","category":"kind","note":"${'n'.repeat(2_001)}"}`,
      '[]',
      '{"note":"\\"category\\": odd","item":"x","category":"none"}',
    ];
    const error = await read(lines.join('\n')).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    const problems = (error as { problems: { line: number; column: number; message: string; suggestion: string | null }[] }).problems;
    expect(problems.map(({ line, column }) => [line, column])).toEqual([
      [1, 24],
      [2, 31],
      [3, 1],
      [4, 1],
      [5, 13],
      [6, 9],
      [7, 39],
      [8, 38],
      [9, 1],
      [10, 51],
    ]);
    expect(problems[0]).toMatchObject({ message: 'category: expected one of rude, kind', suggestion: 'kind' });
    expect(problems[4]?.suggestion).toBe('category');
    expect(problems[6]?.message).toContain('no mail address');
    await expect(read('\n')).rejects.toThrow(/holds no label/);
    await expect(readLabelFile('/nowhere/labels.jsonl', ['rude'])).rejects.toThrow(/no such file/);
  });
});

describe('agreement of raters', () => {
  const label = (trial: string, rater: string, category: string, note: string | null = null) => ({ trial, rater, category, note });
  const score = (trial: string, category: string, series = 's1') => ({ trial, series, category, reason: null });
  const scale = ['rude', 'kind'];

  it('is told of each series and people, and of each two people', () => {
    // Cohen (1960) as in any textbook: 20, 5, 10, 15 of 50 give kappa 0.4.
    const counts = [
      ['rude', 'rude', 20],
      ['rude', 'kind', 5],
      ['kind', 'rude', 10],
      ['kind', 'kind', 15],
    ] as const;
    const pairs = counts.flatMap(([judge, person, times]) => Array.from({ length: times }, () => [judge, person] as const));
    const labels = pairs.flatMap(([judge, person], at) => [label(`t${at}`, 'ana', person), label(`t${at}`, 'bo', judge)]);
    const people = raterAgreement(scale, labels, []);
    expect(people.pairs).toMatchObject([{ kind: 'people', first: 'ana', second: 'bo', both: 50, few: false }]);
    expect(people.pairs[0]?.kappa?.kappa).toBeCloseTo(0.4, 10);
    expect(people.pairs[0]?.table).toEqual([
      [20, 10],
      [5, 15],
    ]);
    expect(people.pairs[0]?.says).toMatch(/^kappa 0\.40, 95% interval 0\.\d\d to 0\.\d\d, on 50 trials$/);
    const judged = raterAgreement(
      scale,
      pairs.map(([, person], at) => label(`t${at}`, 'ana', person)),
      pairs.map(([judge], at) => score(`t${at}`, judge)),
    );
    expect(judged.pairs).toMatchObject([{ kind: 'judge', first: 's1', second: 'people', both: 50, split: 0 }]);
    expect(judged.pairs[0]?.kappa?.kappa).toBeCloseTo(0.4, 10);
    expect(judged.disagreements).toHaveLength(15);
    expect(judged.disagreements.every(({ between }) => between.join() === 'judge')).toBe(true);
  });

  it('counts a trial once by what most people said, names those on which they are split, and keeps series apart', () => {
    const labels = [label('t0', 'ana', 'kind'), label('t0', 'bo', 'kind'), label('t0', 'cy', 'rude'), label('t1', 'ana', 'kind'), label('t1', 'bo', 'rude')];
    const found = raterAgreement(scale, labels, [score('t0', 'kind'), score('t1', 'kind'), score('t2', 'rude'), score('t0', 'rude', 's2')]);
    const [first, second, ...people] = found.pairs;
    expect(first).toMatchObject({ kind: 'judge', first: 's1', both: 1, split: 1, few: true, kappa: null });
    expect(first?.says).toBe('kappa is not defined: both put everything into one category, on 1 trial; on 1 more people are split');
    expect(second).toMatchObject({ kind: 'judge', first: 's2', both: 1 });
    expect(people.map((pair) => [pair.first, pair.second, pair.both])).toEqual([
      ['ana', 'bo', 2],
      ['ana', 'cy', 1],
      ['bo', 'cy', 1],
    ]);
    expect(people[0]?.says).toContain(`with fewer than ${FEW_TRIALS} trials this says little`);
    expect(found.disagreements.map(({ trial, between }) => [trial, between])).toEqual([
      ['t0', ['judge', 'people']],
      ['t1', ['people']],
    ]);
    expect(found.labelled).toEqual([
      { trial: 't0', category: 'kind' },
      { trial: 't1', category: null },
    ]);
    expect(raterAgreement(scale, [label('t0', 'ana', 'kind')], [score('t9', 'kind')]).pairs[0]?.says).toBe('no trial was rated by both');
  });

  it('mixes no categories of two scales, and compares so many people at most', () => {
    expect(() => raterAgreement(scale, [label('t0', 'ana', 'warm'), label('t0', 'bo', 'kind')], [])).toThrow(/no category of this scale/);
    const many = Array.from({ length: 12 }, (_, at) => label('t0', `p${String(at).padStart(2, '0')}`, 'kind'));
    const found = raterAgreement(scale, many, []);
    expect([found.pairs.length, found.leftOut]).toEqual([28, 4]);
  });
});
