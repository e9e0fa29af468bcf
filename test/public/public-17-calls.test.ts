import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, codes, expecting, module, rows, script, startBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

const TICKET = { subject: 'Broken lamp', body: 'It does not light.' };
const oneTicket = expecting({ row: 'tickets', change: 'insert', where: { subject: 'Broken lamp' } });

describe('public-17: a tool that is not there', () => {
  it('public-17: is told so; the right call after it still passes, and the report counts it', async () => {
    const { trial, record, verdict } = await bench.play({
      agent: script(
        [
          { call: 'create_tickets', with: TICKET, invalid: true, as: 'wrong' },
          { call: 'open_ticket', with: TICKET },
        ],
        '${wrong!state} ${wrong!problem}',
      ),
      kase: oneTicket,
    });
    expect(record.messages.at(-1)?.text).toBe('rejected unknown_tool');
    expect(record.operations).toMatchObject([
      { tool: 'create_tickets', told: 'rejected', known: 'failed', position: null, problem: { code: 'unknown_tool' } },
      { tool: 'open_ticket', told: 'committed', position: 1 },
    ]);
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 2 });
    expect(verdict.diagnostics).toMatchObject({ unknownTools: 1 });
  });

  it.each([[['create_tickets', 'open_ticket']], [['open_ticket', 'create_tickets']], [['open_ticket', 'toString', '__proto__', 'constructor']]])(
    'public-17: at the same time as others: %j: each call has its own answer',
    async (tools) => {
      const { trial, record, verdict } = await bench.play({
        agent: module('calls.ts', { together: true, calls: tools.map((tool) => ({ tool, args: TICKET })) }),
        kase: oneTicket,
      });
      const outcomes = JSON.parse(record.messages.at(-1)?.text ?? '') as [string, unknown, string | null][];
      expect(outcomes.map(([state, , problem]) => [state, problem])).toEqual(
        tools.map((tool) => (tool === 'open_ticket' ? ['committed', null] : ['rejected', 'unknown_tool'])),
      );
      expect(record.operations).toHaveLength(tools.length);
      expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1 });
      expect(verdict.diagnostics).toMatchObject({ unknownTools: tools.length - 1 });
    },
  );
});

describe('public-18: arguments that are none', () => {
  const bad = [['oops'], null, '{', '{}', {}, 7, true, { subject: 'Broken lamp' }, { ...TICKET, extra: true }, { subject: 7, body: 'x' }];

  it.each(['open_ticket', 'charge', 'send_mail'])('public-18: of %s: refused, not dispatched, no change; the right call is still the first', async (tool) => {
    const right = { open_ticket: TICKET, charge: { account: 'a-1', amount: 1 }, send_mail: { to: ['a@example.org'], subject: 's', text: 't' } }[tool];
    const { trial, record, verdict } = await bench.play({
      agent: module('calls.ts', { calls: [...bad.map((args) => ({ tool, args })), { tool, args: right ?? {} }] }),
    });
    const outcomes = JSON.parse(record.messages.at(-1)?.text ?? '') as [string, unknown, string | null][];
    expect(outcomes.map(([state, , problem]) => [state, problem])).toEqual([...bad.map(() => ['rejected', 'invalid_args']), ['committed', null]]);
    expect(record.operations.map(({ position }) => position)).toEqual([...bad.map(() => null), 1]);
    // As they were sent.
    expect(record.operations.slice(0, -1).map(({ args }) => args)).toEqual(bad);
    expect(new Set(record.effects.map(({ operation }) => operation))).toEqual(new Set([`op-${bad.length + 1}`]));
    expect(trial.ending).toBe('completed');
    expect(verdict.diagnostics).toMatchObject({ invalidArguments: bad.length });
  });

  it('public-18: {} runs where the schema allows it, and nowhere else', async () => {
    const { record } = await bench.play({
      agent: module('calls.ts', {
        calls: [
          { tool: 'ping', args: {} },
          { tool: 'ping', args: { extra: 1 } },
          { tool: 'ping', args: null },
          { tool: 'charge', args: {} },
        ],
      }),
    });
    expect(record.operations.map(({ told, problem }) => [told, problem?.code ?? null])).toEqual([
      ['committed', null],
      ['rejected', 'invalid_args'],
      ['rejected', 'invalid_args'],
      ['rejected', 'invalid_args'],
    ]);
  });
});

describe('public-19: an agent that loops', () => {
  const loops = (parameters = {}) => module('loops.ts', parameters);

  it.each([30, 7])('public-19: for ever, ends at exactly its budget of %i calls, and its world is still graded', async (calls) => {
    const { trial, record, verdict } = await bench.play({ environment: 'support-desk', agent: loops(), kase: { budget: { calls } } });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls, pass: 'pass', attempt: 1 });
    expect(record.operations).toHaveLength(calls);
    expect(verdict.diagnostics).toMatchObject({ calls, repeatedCalls: calls - 1 });
  });

  it('public-19: for ever, with something left to do, fails on what it left, labelled', async () => {
    const { trial, verdict } = await bench.play({
      environment: 'support-desk',
      agent: loops(),
      kase: { budget: { calls: 30 }, ...expecting({ row: 'ticket_comments', change: 'insert' }) },
    });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 30, pass: 'fail' });
    expect(codes(verdict)).toContain('missing_effect');
    expect(trial.why).toMatch(/budget/i);
  });

  it('public-19: whose last call within the budget is the right write, passes on its outcome', async () => {
    const comment = { tool: 'comment_ticket', args: { ticket_id: 214, body: 'Seen.', public: false } };
    const { trial, record } = await bench.play({
      environment: 'support-desk',
      agent: loops({ at: 30, last: comment }),
      kase: {
        budget: { calls: 30 },
        expect: {
          outcomes: [{ name: 'commented', effects: [{ row: 'ticket_comments', change: 'insert', where: { ticket_id: 214, body: 'Seen.' } }] }],
          allowed: [{ row: 'tickets', change: 'update', where: { id: 214 }, only: ['updated_at', 'status'] }],
        },
        expects_nothing: false,
      },
    });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 30, outcome: 'pass' });
    expect(rows(record, 'ticket_comments')).toHaveLength(1);
  });

  it('public-19: whose right write would be one call too late has not made it', async () => {
    const comment = { tool: 'comment_ticket', args: { ticket_id: 214, body: 'Seen.', public: false } };
    const { trial, record } = await bench.play({
      environment: 'support-desk',
      agent: loops({ at: 31, last: comment }),
      kase: { budget: { calls: 30 } },
    });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 30 });
    expect(record.operations).toHaveLength(30);
    expect(record.effects).toEqual([]);
  });

  it('public-19: a script of more steps than its budget ends the same way', async () => {
    const steps = Array.from({ length: 5 }, () => ({ call: 'ping', with: {} }));
    const { trial, record } = await bench.play({ agent: script(steps), kase: { budget: { calls: 4 } } });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 4 });
    expect(record.operations).toHaveLength(4);
  });
});
