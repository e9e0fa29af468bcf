import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { commandPlace, jsonLines } from '../integration/cli-process.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { type Bench, codes, counter, expecting, mails, module, rows, script, startBench, told } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('public-s1: the clock of the world, not of the machine', () => {
  const at = (clock: string, due: string): JsonObject => ({
    clock,
    timezone: 'Europe/Berlin',
    ...expecting({ row: 'follow_ups', change: 'insert', where: { customer_id: 1007, due_at: due } }),
  });
  const days: readonly (readonly [name: string, clock: string, right: string, wrong: string])[] = [
    ['in-the-night-of-the-change-to-summer-time', '2026-03-29T00:30:00+01:00', '2026-03-30T09:00:00+02:00', '2026-03-30T09:00:00+01:00'],
    ['the-night-before-it', '2026-03-28T00:30:00+01:00', '2026-03-29T09:00:00+02:00', '2026-03-29T09:00:00+01:00'],
    ['the-night-before-the-change-to-winter-time', '2026-10-24T23:30:00+02:00', '2026-10-25T09:00:00+01:00', '2026-10-25T09:00:00+02:00'],
  ];
  const cases = days.flatMap(([name, clock, right, wrong]) => [[`${name}-right`, at(clock, right)] as const, [`${name}-wrong`, at(clock, wrong)] as const]);

  it('public-s1: around both changes of the clock, "tomorrow at 9" has the same verdict in every zone of the host', { timeout: 240_000 }, async () => {
    const verdicts = await Promise.all(
      ['UTC', 'America/Los_Angeles', 'Pacific/Auckland'].map(async (TZ) => {
        await using place = await commandPlace(inject('services'), { TZ });
        const agent: JsonObject = { kind: 'module', file: resolve('test/fixtures/agents/tomorrow.ts') };
        const { suite, agents } = await writeOneCaseSuite(place.cwd, 'clock', { environment: 'support-desk', agent, more: Object.fromEntries(cases) });
        const { stdout } = await place.run('run', suite, '--agent', agents[0], '--case', 'the-night*', '--case', 'in-the-night*', '--json', '--no-gate');
        const trials = jsonLines(stdout).filter(({ type }) => type === 'trial');
        return trials
          .map((trial) => ['case', 'ending', 'pass', 'calls', 'why'].map((key) => trial[key]))
          .sort((one, other) => String(one[0]).localeCompare(String(other[0])));
      }),
    );
    const expected = cases.map(([name]) => [name, 'completed', name.endsWith('-right') ? 'pass' : 'fail']);
    expect(verdicts[0]?.map((found) => found.slice(0, 3))).toEqual(expected.sort(([one = ''], [other = '']) => one.localeCompare(other)));
    expect(verdicts[1]).toEqual(verdicts[0]);
    expect(verdicts[2]).toEqual(verdicts[0]);
  });
});

describe('public-s2: too many requests', () => {
  const read = { call: 'get_ticket', with: { ticket_id: 1 } };
  const now = { call: 'wait', with: { seconds: 1 }, as: 'now' };
  const waited = (text: string | undefined) => (Date.parse(text ?? '') - Date.parse('2026-03-02T08:30:00Z')) / 1000 - 1;
  const opened = {
    state: [
      {
        insert: 'tickets',
        rows: [{ id: 1, subject: 's', body: 'b', requester: 'one@example.org', created_at: '2026-03-01T09:00:00Z', updated_at: '2026-03-01T09:00:00Z' }],
      },
    ],
  };

  it.each(['seconds', 'http_date'])('public-s2: on the second call, with Retry-After as %s, waits on the clock of the world, and goes on', async (as) => {
    for (const [on, code] of [
      [{ service: 'tickets' }, 'rate_limited'],
      ['get_ticket', 'rate_limited'],
    ] as const) {
      const environment = counter({ retries: { on: [code], attempts: 3, backoffSeconds: 60, honoursRetryAfter: true } });
      const { trial, record } = await bench.play({
        environment,
        agent: script([read, read, now], '${now.now}'),
        kase: opened,
        // On a tool a rule hits all tries of its call unless it says how many; on a service, one request.
        faults: [{ on, call: 2, fault: 'rate_limited', retry_after: 7200, retry_after_as: as, ...(on === 'get_ticket' && { attempts: 1 }) }],
      });
      expect(record.operations.slice(0, 2).map(({ told: state, tries }) => [state, tries ?? 1])).toEqual([
        ['committed', 1],
        ['committed', 2],
      ]);
      expect(waited(record.messages.at(-1)?.text)).toBe(7200);
      expect(trial.pass).toBe('pass');
    }
  });

  it.each(['seconds', 'http_date'])(
    'public-s2: for ever, with Retry-After as %s: the tries are bounded, and the agent is told when it may ask again',
    async (as) => {
      const environment = counter({ retries: { on: ['rate_limited'], attempts: 3, backoffSeconds: 60, honoursRetryAfter: false } });
      const { record } = await bench.play({
        environment,
        agent: script([read, now], '${now.now}'),
        kase: opened,
        faults: [{ on: { service: 'tickets' }, fault: 'rate_limited', retry_after: 600, retry_after_as: as }],
      });
      expect(record.operations[0]).toMatchObject({ told: 'failed', tries: 4, problem: { code: 'rate_limited', retryAfterSeconds: expect.any(Number) } });
      expect(record.faults?.injected.length).toBeGreaterThan(0);
      expect(waited(record.messages.at(-1)?.text)).toBe(180);
    },
  );

  it.each(['seconds', 'http_date'])('public-s2: met by a client of its own, with Retry-After as %s', async (as) => {
    const { record } = await bench.play({
      environment: 'support-desk',
      agent: module('own-clients.ts', {}, { access: ['tickets'] }),
      faults: [{ on: { service: 'tickets' }, call: 2, fault: 'rate_limited', retry_after: 2, retry_after_as: as }],
    });
    const lines = record.messages.at(-1)?.text.split('\n');
    expect(lines?.[0]).toBe('ticket 1: 200');
    expect(lines?.[1]).toMatch(as === 'seconds' ? /^ticket 2: 429 2$/ : /^ticket 2: 429 Mon, 02 Mar 2026 08:30:02 GMT$/);
  });
});

describe('public-s4: a step that is ended by its time limit', () => {
  const MAIL = { to: ['one@example.org'], subject: 'Your order', text: 'It is on its way.' };

  it.each(['send_mail', 'charge', 'open_ticket'])('public-s4: %s that times out each time is made once: nothing tries it again but the agent', async (tool) => {
    const args = { send_mail: MAIL, charge: { account: 'a-1', amount: 1 }, open_ticket: { subject: 's', body: 'b' } }[tool] ?? {};
    const { trial, record } = await bench.play({
      agent: script([{ call: tool, with: args }]),
      kase: expecting(tool === 'send_mail' ? { mail: ['one@example.org'] } : { row: tool === 'charge' ? 'charges' : 'tickets', change: 'insert' }),
      faults: [{ on: tool, fault: 'timeout_after_commit' }],
    });
    expect(told(record)).toEqual([[tool, 'unknown', 'committed', 'timeout']]);
    expect(record.effects).toHaveLength(1);
    expect(record.faults?.injected).toHaveLength(1);
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1, calls: 1 });
  });

  it('public-s4: a turn that is ended by its limit is not played again: one mail, one attempt', async () => {
    const { trial, record } = await bench.play({
      agent: module('tells-problems.ts', { calls: [{ tool: 'send_mail', args: MAIL }], stays: true }),
      kase: { budget: { wall: '2s' }, ...expecting({ mail: ['one@example.org'] }) },
    });
    expect(trial).toMatchObject({ ending: 'agent_timeout', attempt: 1, calls: 1 });
    expect(mails(record)).toHaveLength(1);
    expect(await bench.testbed.root.store.attempts(trial.trial)).toHaveLength(1);
  });

  it('public-s4: an agent that repeats its turn after each time-out has three mails, and fails', async () => {
    const { trial, record, verdict } = await bench.play({
      agent: module('reconciles.ts', { call: { tool: 'send_mail', args: MAIL }, tries: 3, blind: true }),
      kase: expecting({ mail: ['one@example.org'] }),
      faults: [{ on: 'send_mail', fault: 'timeout_after_commit' }],
    });
    expect(mails(record)).toHaveLength(3);
    expect(rows(record, 'charges')).toHaveLength(0);
    expect(trial.pass).toBe('fail');
    expect(codes(verdict)).toContain('duplicate_effect');
  });
});
