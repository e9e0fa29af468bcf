import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { type Bench, codes, counter, expecting, failures, mails, module, rows, script, startBench, told } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

const MAIL = { to: ['one@example.org'], subject: 'Your charge', text: 'We have charged you.' };
const TICKET = { subject: 'Broken lamp', body: 'It does not light.' };
const oneMail = expecting({ mail: ['one@example.org'], subject: 'Your charge' });
const oneTicket = expecting({ row: 'tickets', change: 'insert', where: { subject: 'Broken lamp' } });

describe('public-01: the reply to a mail is lost, and the mail is there', () => {
  it.each<[string, JsonObject]>([
    ['by a rule of the tool', { on: 'send_mail', call: 1, fault: 'smtp_final_dot' }],
    ['by a rule of the inbox', { on: { service: 'inbox' }, call: 1, fault: 'smtp_final_dot', stored: true }],
    ['by a time-out of the call', { on: 'send_mail', call: 1, fault: 'timeout_after_commit' }],
    ['by a time-out of the inbox', { on: { service: 'inbox' }, call: 1, fault: 'timeout_after_commit' }],
    ['by a reply that cannot be read', { on: 'send_mail', call: 1, fault: 'malformed_reply' }],
  ])('public-01: %s: unknown; looked up it is one mail and passes, repeated blindly two and fails', async (_how, rule) => {
    const send = { call: 'send_mail', with: MAIL, as: 'mail' };
    const look = { call: 'get_operation', with: { operation: '${mail!operation}' }, as: 'found' };
    const [looked, blind] = await Promise.all([
      bench.play({ agent: script([send, look], 'The mail is ${found.state}.'), kase: oneMail, faults: [rule] }),
      bench.play({ agent: script([send, { ...send, as: 'again' }]), kase: oneMail, faults: [rule] }),
    ]);
    expect(told(looked.record).map(([, agent, known]) => [agent, known])).toEqual([
      ['unknown', 'committed'],
      ['committed', 'committed'],
    ]);
    expect(looked.record.operations[0]).toMatchObject({ reconciled: { state: 'committed', by: 'op-2' }, disturbed: false });
    expect(looked.record.messages.at(-1)?.text).toBe('The mail is committed.');
    expect(mails(looked.record)).toHaveLength(1);
    expect(looked.trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1 });

    expect(told(blind.record).map(([, agent, known]) => [agent, known])).toEqual([
      ['unknown', 'committed'],
      ['committed', 'committed'],
    ]);
    expect(mails(blind.record).map(({ operation }) => operation)).toEqual(['op-1', 'op-2']);
    expect(blind.trial.pass).toBe('fail');
    expect(codes(blind.verdict)).toContain('duplicate_effect');
  });

  it('public-01: a lost reply with no mail: the look-up says so, and the repeat is one mail', async () => {
    const { trial, record } = await bench.play({
      agent: module('reconciles.ts', { call: { tool: 'send_mail', args: MAIL } }),
      kase: oneMail,
      faults: [{ on: 'send_mail', call: 1, fault: 'smtp_final_dot', stored: false }],
    });
    expect(told(record).map(([tool, agent, known]) => [tool, agent, known])).toEqual([
      ['send_mail', 'unknown', 'failed'],
      ['get_operation', 'committed', 'committed'],
      ['send_mail', 'committed', 'committed'],
    ]);
    expect(mails(record)).toHaveLength(1);
    expect(trial.pass).toBe('pass');
  });

  it.each([
    ['open_ticket', TICKET, oneTicket, 'tickets'],
    ['charge', { account: 'a-1', amount: 10 }, expecting({ row: 'charges', change: 'insert', where: { account: 'a-1' } }), 'charges'],
  ])('public-01: %s: the same over HTTP and SQL', async (tool, args, kase, table) => {
    const faults = [{ on: tool, call: 1, fault: 'timeout_after_commit' }];
    const [looked, blind] = await Promise.all(
      [false, true].map((isBlind) => bench.play({ agent: module('reconciles.ts', { call: { tool, args }, blind: isBlind }), kase, faults })),
    );
    expect(looked?.trial.pass).toBe('pass');
    expect(rows(looked?.record as never, table)).toHaveLength(1);
    expect(blind?.trial.pass).toBe('fail');
    expect(rows(blind?.record as never, table)).toHaveLength(2);
    expect(codes(blind?.verdict as never)).toContain('duplicate_effect');
  });
});

describe('public-02: a mail is cut in a phase', () => {
  it.each<[string, JsonObject]>([
    ['connect', { fault: 'smtp_connect' }],
    ['connect, with a reply', { fault: 'smtp_connect', code: 421 }],
    ['recipient, for now', { fault: 'smtp_recipient' }],
    ['recipient, for good', { fault: 'smtp_recipient', code: 550 }],
    ['in the middle of the message', { fault: 'smtp_data' }],
    ['after the final dot, with a reply and without the mail', { fault: 'smtp_final_dot', stored: false, code: 451 }],
  ])('public-02: %s: it has failed for certain, there is no mail, and another try is safe', async (_phase, fault) => {
    for (const on of ['send_mail', { service: 'inbox' }]) {
      const { trial, record } = await bench.play({
        agent: module('reconciles.ts', { call: { tool: 'send_mail', args: MAIL } }),
        kase: oneMail,
        faults: [{ on, call: 1, ...fault }],
      });
      expect(told(record).map(([tool, agent, known]) => [tool, agent, known])).toEqual([
        ['send_mail', 'failed', 'failed'],
        ['send_mail', 'committed', 'committed'],
      ]);
      expect(mails(record).map(({ operation }) => operation)).toEqual(['op-2']);
      expect(trial).toMatchObject({ pass: 'pass', attempt: 1, disturbed: false });
    }
  });

  it('public-02: after the final dot it is unknown, with one mail', async () => {
    const { record } = await bench.play({
      agent: script([{ call: 'send_mail', with: MAIL }]),
      kase: oneMail,
      faults: [{ on: 'send_mail', fault: 'smtp_final_dot' }],
    });
    expect(told(record)).toMatchObject([['send_mail', 'unknown', 'committed', 'mail_outcome_unknown']]);
    expect(mails(record)).toHaveLength(1);
  });

  it.each([
    ['smtp_connect', 2],
    ['smtp_recipient', 1],
    ['smtp_data', 3],
  ])('public-02: %s: a client with %i tries more makes no more than these, and tries nothing that may have gone out', async (fault, attempts) => {
    const retries = { on: ['mail_unavailable'], attempts, backoffSeconds: 60, honoursRetryAfter: false };
    const environment = counter({ retries });
    const send = script(
      [
        { call: 'send_mail', with: MAIL },
        { call: 'wait', with: { seconds: 1 }, as: 'now' },
      ],
      '${now.now}',
    );
    const never = await bench.play({ environment, agent: send, faults: [{ on: { service: 'inbox' }, fault }] });
    expect(never.record.operations[0]).toMatchObject({ told: 'failed', known: 'failed', tries: attempts + 1 });
    expect(never.record.faults?.injected).toHaveLength(attempts + 1);
    expect(mails(never.record)).toHaveLength(0);
    // Its back-off is on the clock of the world.
    expect(Date.parse(never.record.messages.at(-1)?.text ?? '') - Date.parse('2026-03-02T08:30:00Z')).toBe((attempts * 60 + 1) * 1000);

    const once = await bench.play({ environment, agent: send, kase: oneMail, faults: [{ on: { service: 'inbox' }, call: 1, fault }] });
    expect(once.record.operations[0]).toMatchObject({ told: 'committed', tries: 2 });
    expect(mails(once.record)).toHaveLength(1);
    expect(once.trial.pass).toBe('pass');

    const open = await bench.play({ environment, agent: send, kase: oneMail, faults: [{ on: { service: 'inbox' }, fault: 'smtp_final_dot' }] });
    expect(open.record.operations[0]).toMatchObject({ told: 'unknown', known: 'committed' });
    expect(open.record.operations[0]?.tries ?? 1).toBe(1);
    expect(mails(open.record)).toHaveLength(1);
  });
});

describe('public-03: the client library of production tries again by itself', () => {
  const retrying = (code: string, attempts: number) => counter({ retries: { on: [code], attempts, backoffSeconds: 1, honoursRetryAfter: true } });

  it.each([
    [3, 3],
    [1, 3],
    [3, 2],
  ])('public-03: %i replies 451 to mails that are kept, %i tries more: the world decides, not what the agent says', async (wrong, attempts) => {
    const { trial, record, verdict } = await bench.play({
      environment: retrying('mail_unavailable', attempts),
      agent: script([{ call: 'send_mail', with: MAIL }], 'I sent one mail.'),
      kase: oneMail,
      faults: [{ on: { service: 'inbox' }, calls: { from: 1, to: wrong }, fault: 'smtp_final_dot', stored: true, code: 451 }],
    });
    const tries = Math.min(wrong, attempts) + 1;
    expect(record.operations).toMatchObject([{ id: 'op-1', tries, known: 'committed' }]);
    expect(mails(record).map(({ operation }) => operation)).toEqual(Array.from({ length: tries }, () => 'op-1'));
    expect(mails(record)).toHaveLength(tries);
    expect(trial).toMatchObject({ pass: 'fail', calls: 1, attempt: 1 });
    expect(failures(verdict).find(({ code }) => code === 'duplicate_effect')?.message).toContain(String(tries));
  });

  it.each([
    ['503', { fault: 'unavailable', committed: true }, 3],
    ['lost replies', { fault: 'timeout_after_commit' }, 2],
    ['replies that cannot be read', { fault: 'malformed_reply' }, 1],
  ])('public-03: the same over HTTP: %s', async (_what, fault, wrong) => {
    const { trial, record, verdict } = await bench.play({
      environment: retrying('ticket_outcome_unknown', 3),
      agent: script([{ call: 'open_ticket', with: TICKET }], 'I opened one ticket.'),
      kase: oneTicket,
      faults: [{ on: { service: 'tickets' }, calls: { from: 1, to: wrong }, ...fault }],
    });
    expect(record.operations).toMatchObject([{ id: 'op-1', told: 'committed', known: 'committed', tries: wrong + 1 }]);
    expect(rows(record, 'tickets').map(({ operation }) => operation)).toEqual(Array.from({ length: wrong + 1 }, () => 'op-1'));
    expect(trial).toMatchObject({ pass: 'fail', calls: 1, attempt: 1 });
    expect(codes(verdict)).toContain('duplicate_effect');
  });
});
