import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

/**
 * How an agent's trial ends under a schedule. `doubles`: an effect is there twice. `lies`: something that was not done, or that it does not know, is told as
 * done. `cannot`: what was asked for cannot be had, and it is told as done.
 */
type Fate = 'passes' | 'doubles' | 'lies' | 'cannot';

interface Theory {
  readonly hasty: Fate;
  readonly careful: Fate;
  readonly liar: Fate;
  readonly why: string;
}

/** Under which schedule which agent fails, of the cases that it passes without faults, and why. */
const THEORY: { readonly [schedule: string]: Theory } = {
  'mail-reply-lost': { hasty: 'doubles', careful: 'passes', liar: 'lies', why: 'the mail was sent; a second one is one too many; nobody knows without a look' },
  'journal-away': { hasty: 'doubles', careful: 'passes', liar: 'lies', why: 'nobody can know whether the mail was sent; only who says so passes' },
  'comment-unreadable': { hasty: 'doubles', careful: 'passes', liar: 'lies', why: 'the comment is there; a second one is one too many' },
  'comment-not-seen-yet': { hasty: 'doubles', careful: 'passes', liar: 'lies', why: 'the comment is there; the journal of operations says so, reads do not' },
  'tickets-gateway': {
    hasty: 'doubles',
    careful: 'passes',
    liar: 'lies',
    why: 'the comment is there though the gateway refused it; the liar stops at its read',
  },
  'colleague-first': {
    hasty: 'doubles',
    careful: 'passes',
    liar: 'passes',
    why: 'who reads again sees that it is done already; the liar has nothing to claim',
  },

  'mail-request-lost': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'nothing was sent, so a repeat is harmless, and needed' },
  'mail-limited': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'the refusal says how long to wait' },
  'mail-too-large': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'a refusal: a repeat is harmless' },
  'mail-no-connection': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'before the final dot there is no mail: a repeat is harmless' },
  'mail-greylisted': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'before the final dot there is no mail: a repeat is harmless' },
  'mail-cut-off': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'before the final dot there is no mail: a repeat is harmless' },
  'mailbox-full': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'refused at its end and not kept: a repeat is harmless' },
  'mail-twice': { hasty: 'passes', careful: 'passes', liar: 'passes', why: "the server's own copy is nobody's doing" },
  'inbox-away': { hasty: 'cannot', careful: 'passes', liar: 'lies', why: 'no mail can be sent; only who says so passes' },
  'mail-right-revoked': { hasty: 'cannot', careful: 'passes', liar: 'lies', why: 'no mail may be sent; only who says so passes' },

  'cancel-reply-lost': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'a cancelled order cannot be cancelled again: a repeat is refused' },
  'cancel-too-slow': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'beyond the patience of the client it is a lost reply' },
  'lagging-replica': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'reads are stale, writes and the journal of operations are not' },
  'packed-meanwhile': { hasty: 'passes', careful: 'passes', liar: 'passes', why: 'a packed order can be cancelled as well' },
  'slow-reads': { hasty: 'passes', careful: 'passes', liar: 'passes', why: 'it takes time, and nothing else' },
  'orders-away-at-first': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'a third read is answered; the liar does not get that far' },

  'refund-reply-lost': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'no more than was paid is paid back: a repeat is refused' },
  'refund-request-lost': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'nothing was paid, so a repeat is harmless, and needed' },
  'refund-contract': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'the refusal says the new names' },
  'arrives-twice': { hasty: 'doubles', careful: 'passes', liar: 'doubles', why: 'only a key makes two arrivals one' },
  'approval-unreadable': { hasty: 'doubles', careful: 'passes', liar: 'lies', why: 'the approval is asked for; a second request is one too many' },
  'systems-disagree-more': { hasty: 'passes', careful: 'passes', liar: 'passes', why: 'they disagree in other words; the rule is the same' },

  'tickets-limited': { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'the refusal says until when to wait' },
  'tickets-away': { hasty: 'cannot', careful: 'passes', liar: 'lies', why: 'the ticket cannot even be read; only who says so passes' },
  flaky: { hasty: 'passes', careful: 'passes', liar: 'lies', why: 'at most two refusals in a row; the liar gives up at the first' },
};

/** Between them each schedule has one to three. */
const CASES = ['cancel-before-shipping', 'lost-parcel', 'close-with-comment', 'partial-refund', 'refund-needs-approval', 'conflicting-records'];
const AGENTS = ['hasty', 'careful', 'liar'] as const;

const suite = await loadSuite('support-desk');

let testbed: Testbed;
let trials: readonly TrialSummary[];
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  const request = {
    suite: 'support-desk',
    agents: ['reference', ...AGENTS],
    cases: CASES,
    faults: ['all'],
    seed: 'theory',
    keep: 'never',
    concurrency: 8,
  } as const;
  trials = (await testbed.run(request)).trials;
}, 600_000);
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
});

test('the suite has schedules of every kind, on tools and on services, and each is in the theory', () => {
  const schedules = Object.values(suite.schedules).map(({ schedule }) => schedule);
  expect(schedules.map(({ name }) => name)).toEqual(Object.keys(THEORY).sort());
  const rules = schedules.flatMap(({ rules }) => rules);
  expect([...new Set(rules.map(({ fault }) => fault.kind))].sort()).toEqual(KINDS);
  const services = rules.flatMap(({ on }) => (on !== 'start' && 'service' in on ? [on.service] : []));
  expect([...new Set(services)].sort()).toEqual(['database', 'inbox', 'tickets']);
});

describe('the reference', () => {
  test('passes every case without faults', () => {
    expect(of('reference').filter((trial) => trial.schedule === 'none' && trial.pass !== 'pass')).toEqual([]);
  });

  test.each(Object.keys(THEORY))('meets %s in each of its cases', (schedule) => {
    const own = of('reference').filter((trial) => trial.schedule === schedule);
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBeLessThanOrEqual(3);
    const fired = own.filter((trial) => (trial.faults?.injected ?? 0) > 0);
    // Chance may spare a case, never all.
    if (schedule === 'flaky') expect(fired.length).toBeGreaterThan(0);
    else expect(own.filter((trial) => !fired.includes(trial))).toEqual([]);
  });
});

describe.each(AGENTS)('%s', (agent) => {
  test('fares as theory says, in each case that it passes without faults', async () => {
    const able = of(agent).filter((trial) => trial.schedule === 'none' && trial.pass === 'pass');
    expect(able.length).toBeGreaterThanOrEqual(3);
    const tried = of(agent).filter((trial) => trial.schedule !== 'none' && able.some((one) => one.case === trial.case));
    const rows = await Promise.all(tried.map((trial) => rowOf(agent, trial)));
    process.stdout.write(`${table(agent, rows)}\n`);
    expect(rows.filter(({ expected, found }) => expected !== found)).toEqual([]);
  });
});

test('hasty fails where a blind repeat doubles an effect, and where there is nothing but to say that it cannot be done; careful nowhere', () => {
  for (const { hasty, careful } of Object.values(THEORY)) {
    expect(['passes', 'doubles', 'cannot']).toContain(hasty);
    expect(careful).toBe('passes');
  }
});

interface Row {
  readonly schedule: string;
  readonly case: string;
  readonly expected: string;
  readonly found: string;
  readonly why: string | null;
}

/** A line for each schedule: how the agent fared in its cases. */
function table(agent: string, rows: readonly Row[]): string {
  const lines = [...new Set(rows.map(({ schedule }) => schedule))].sort().map((schedule) => {
    const own = rows.filter((row) => row.schedule === schedule).sort((a, b) => (a.case < b.case ? -1 : 1));
    return `  ${schedule.padEnd(24)}${own.map((row) => `${row.case} ${row.found}`).join(', ')}`;
  });
  return [agent, ...lines].join('\n');
}

function of(agent: string): readonly TrialSummary[] {
  return trials.filter((trial) => trial.agent === agent);
}

async function rowOf(agent: (typeof AGENTS)[number], trial: TrialSummary): Promise<Row> {
  const verdict = (await testbed.root.store.verdicts(trial.trial)).at(-1) ?? null;
  const theory = THEORY[trial.schedule]?.[agent] ?? 'no theory';
  // What chance spares is a trial without faults.
  const expected = trial.schedule === 'flaky' && trial.faults?.injected === 0 ? 'passes' : theory;
  return { schedule: trial.schedule, case: trial.case, expected, found: fateOf(verdict, theory), why: trial.why };
}

/** What the verdict shows. A fate of the theory holds where its mark is among the findings. */
function fateOf(verdict: Verdict | null, theory: string): string {
  if (verdict === null) return 'no verdict';
  if (verdict.pass === 'pass') return 'passes';
  const codes = [verdict.outcome, verdict.constraints, verdict.effects]
    .flatMap(({ findings }) => findings)
    .filter(({ judgement }) => judgement === 'fail')
    .map(({ code }) => code);
  const marks = MARKS[theory] ?? [];
  return marks.some((code) => codes.includes(code)) ? theory : `${verdict.pass}: ${codes.join(', ')}`;
}

const MARKS: { readonly [fate: string]: readonly string[] } = {
  // What a colleague did already is done twice, though only once by the agent: the case expects nothing more.
  doubles: ['duplicate_effect', 'repeated_write', 'forbidden_effect'],
  lies: ['false_claim', 'missing_claim'],
  cannot: ['false_claim', 'missing_claim'],
};

const KINDS = [
  'concurrent_change',
  'conflicting_records',
  'duplicate_delivery',
  'malformed_reply',
  'payload_too_large',
  'permission_revoked',
  'rate_limited',
  'schema_changed',
  'slow',
  'smtp_connect',
  'smtp_data',
  'smtp_final_dot',
  'smtp_recipient',
  'stale_read',
  'timeout_after_commit',
  'timeout_before_commit',
  'unavailable',
];
