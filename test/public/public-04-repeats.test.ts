import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import { type Bench, codes, expecting, failures, module, rows, script, startBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

const thrice = (call: JsonObject): readonly JsonObject[] => [call, call, call];

describe('public-04: the same write thrice, each a call of its own', () => {
  it.each<[string, JsonObject, string, JsonObject]>([
    ['open_ticket', { subject: 'Broken lamp', body: 'It does not light.' }, 'tickets', { subject: 'Broken lamp' }],
    ['charge', { account: 'a-1', amount: 10 }, 'charges', { account: 'a-1', amount: 10 }],
  ])('public-04: %s: nothing is deduplicated; exactly one fails and names all three', async (tool, args, table, where) => {
    const { trial, record, verdict } = await bench.play({
      agent: script(thrice({ call: tool, with: args })),
      kase: expecting({ row: table, change: 'insert', where }),
    });
    const made = rows(record, table);
    expect(record.operations.map(({ told }) => told)).toEqual(['committed', 'committed', 'committed']);
    expect(made.map(({ operation }) => operation)).toEqual(['op-1', 'op-2', 'op-3']);
    expect(trial.pass).toBe('fail');
    const duplicate = failures(verdict).find(({ code }) => code === 'duplicate_effect');
    expect(duplicate?.operations).toEqual(['op-1', 'op-2', 'op-3']);
    for (const { key } of made) expect(duplicate?.message).toMatch(new RegExp(`\\bid ${String(key['id'])}\\b`));
    expect(codes(verdict)).toContain('repeated_write');
  });

  it('public-04: a mail thrice: all three are found', async () => {
    const { trial, verdict } = await bench.play({
      agent: script(thrice({ call: 'send_mail', with: { to: ['one@example.org'], subject: 'Hello', text: 'Hello.' } })),
      kase: expecting({ mail: ['one@example.org'] }),
    });
    expect(trial.pass).toBe('fail');
    expect(failures(verdict).find(({ code }) => code === 'duplicate_effect')?.operations).toEqual(['op-1', 'op-2', 'op-3']);
  });

  it('public-04: control: two tickets of different content, both asked for, pass', async () => {
    const { trial, record } = await bench.play({
      agent: script(['Broken lamp', 'Broken chair'].map((subject) => ({ call: 'open_ticket', with: { subject, body: 'It is broken.' } }))),
      kase: expecting(
        { row: 'tickets', change: 'insert', where: { subject: 'Broken lamp' } },
        { row: 'tickets', change: 'insert', where: { subject: 'Broken chair' } },
      ),
    });
    expect(rows(record, 'tickets')).toHaveLength(2);
    expect(trial.pass).toBe('pass');
  });

  it('public-04: control: two charges that are alike and both asked for pass where the case allows the repeat', async () => {
    const { trial } = await bench.play({
      agent: script([1, 2].map(() => ({ call: 'charge', with: { account: 'a-1', amount: 10 } }))),
      kase: {
        expect: { outcomes: [{ name: 'two', effects: [{ row: 'charges', change: 'insert', where: { account: 'a-1' }, count: 2 }] }], repeated_writes: 'allow' },
        expects_nothing: false,
      },
    });
    expect(trial.pass).toBe('pass');
  });
});

describe('public-05: an idempotency key', () => {
  const charge = (amount: number, key: string | null, as?: string): JsonObject => ({
    call: 'charge',
    with: { account: 'a-1', amount },
    ...(key !== null && { key }),
    ...(as !== undefined && { as }),
  });
  const told = (record: TrialRecord) => record.operations.map(({ told: state, problem, replayOf }) => [state, problem?.code ?? null, replayOf ?? null]);

  it('public-05 (a): with other arguments is refused, without effect', async () => {
    const { record } = await bench.play({ agent: script([charge(10, 'k'), charge(11, 'k'), charge(10.5, 'k')]) });
    expect(told(record)).toEqual([
      ['committed', null, null],
      ['rejected', 'idempotency_key_reused', null],
      ['rejected', 'idempotency_key_reused', null],
    ]);
    expect(rows(record, 'charges')).toHaveLength(1);
  });

  it.each([false, true])('public-05 (b): of a call in flight is a conflict that may be tried again (other arguments: %s)', async (others) => {
    const call = { tool: 'slow_charge', args: { account: 'a-1', amount: 10, ms: 1_500 } };
    const second = others ? { ...call, args: { ...call.args, amount: 11 } } : call;
    const { record } = await bench.play({ agent: module('keyed.ts', { key: 'k', together: [call, second], afterwards: [call] }) });
    const outcomes = JSON.parse(record.messages.at(-1)?.text ?? '') as [string, string | null, unknown][];
    expect(outcomes[0]?.[0]).toBe('committed');
    expect(outcomes[1]?.slice(0, 2)).toEqual(['rejected', others ? 'idempotency_key_reused' : 'idempotency_conflict']);
    // Asked again later: the stored result.
    expect(outcomes[2]).toEqual(outcomes[0]);
    expect(record.operations.at(-1)).toMatchObject({ replayOf: 'op-1' });
    expect(rows(record, 'charges')).toHaveLength(1);
  });

  it('public-05 (c): with another tool is refused, without effect', async () => {
    const { record } = await bench.play({
      agent: script([charge(10, 'k'), { call: 'mark', with: { account: 'a-1', status: 'charged' }, key: 'k' }]),
    });
    expect(told(record)[1]).toEqual(['rejected', 'idempotency_key_reused', null]);
    expect(rows(record, 'accounts')).toHaveLength(0);
    expect(rows(record, 'charges')).toHaveLength(1);
  });

  it('public-05 (d): after success gives the stored result, with one effect', async () => {
    const { trial, record } = await bench.play({
      agent: script([charge(10, 'k', 'a'), charge(10, 'k', 'b'), charge(10, 'k', 'c')], '${a.id} ${b.id} ${c.id}'),
      kase: expecting({ row: 'charges', change: 'insert', where: { account: 'a-1' } }),
    });
    expect(told(record)).toEqual([
      ['committed', null, null],
      ['committed', null, 'op-1'],
      ['committed', null, 'op-1'],
    ]);
    expect(record.messages.at(-1)?.text).toMatch(/^(\d+) \1 \1$/);
    expect(rows(record, 'charges')).toHaveLength(1);
    expect(trial.pass).toBe('pass');
  });

  it('public-05 (d): of one trial says nothing in another', async () => {
    const kase = expecting({ row: 'charges', change: 'insert', where: { account: 'a-1' } });
    const both = await Promise.all([1, 2].map(() => bench.play({ agent: script([charge(10, 'k')]), kase })));
    expect(both.map(({ trial, record }) => [trial.pass, rows(record, 'charges').length])).toEqual([
      ['pass', 1],
      ['pass', 1],
    ]);
  });

  it('public-05: is released by a failure, and nothing is deduplicated without one', async () => {
    const missing = { call: 'issue_refund', with: { order_id: 5007, line_id: 8010, amount: 9_000, reason: 'damaged' } };
    const refund = { call: 'issue_refund', with: { order_id: 5007, line_id: 8010, amount: 5, reason: 'damaged' } };
    const { record } = await bench.play({
      environment: 'support-desk',
      agent: script([{ ...missing, key: 'k' }, { ...refund, key: 'k' }, refund, refund]),
    });
    expect(record.operations.map(({ told: state }) => state)).toEqual(['failed', 'committed', 'committed', 'committed']);
    expect(rows(record, 'refunds')).toHaveLength(3);
  });

  it.each([
    ['timeout_after_commit', 'committed', 1],
    ['malformed_reply', 'committed', 1],
    ['timeout_before_commit', 'failed', 1],
  ])('public-05: of unknown outcome (%s) stays unknown and is not dispatched again until a look-up settles it', async (fault, known, effects) => {
    const { record } = await bench.play({
      agent: script([
        charge(10, 'k', 'first'),
        charge(10, 'k'),
        charge(11, 'k'),
        { call: 'get_operation', with: { operation: '${first!operation}' } },
        charge(10, 'k'),
        charge(10, 'k'),
      ]),
      faults: [{ on: 'charge', call: 1, fault }],
    });
    const code = record.operations[0]?.problem?.code;
    expect(record.operations.slice(0, 2)).toMatchObject([
      { told: 'unknown', known },
      { told: 'unknown', known, replayOf: 'op-1', problem: { code } },
    ]);
    expect(told(record)[2]).toEqual(['rejected', 'idempotency_key_reused', null]);
    expect(told(record).slice(4)).toEqual(
      known === 'committed'
        ? [
            ['committed', null, 'op-1'],
            ['committed', null, 'op-1'],
          ]
        : [
            ['committed', null, null],
            ['committed', null, 'op-5'],
          ],
    );
    expect(rows(record, 'charges')).toHaveLength(effects);
  });
});
