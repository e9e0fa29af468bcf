import { describe, expect, test } from 'vitest';
import type { RunEstimate } from '../../src/client/api.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { parseConfirmAbove, reasonsToConfirm, stricter } from '../../src/domain/confirmation.ts';
import { estimateRun, type PlannedKind, type Sample } from '../../src/domain/estimate.ts';
import { durationText } from '../../src/report/duration-text.ts';
import { displayWidth } from '../../src/report/plain-text.ts';
import { ConfigError, readConfirmAbove } from '../../src/worker/config.ts';
import { TestHost } from './cli-support.ts';

function kind(over: Partial<PlannedKind> = {}): PlannedKind {
  return { case: 'refund', schedule: 'none', agent: 'small', trials: 10, asksModels: true, ...over };
}

function sample(over: Partial<Sample> = {}): Sample {
  return {
    ...{ case: 'refund', schedule: 'none', agent: 'small', seconds: 10, calls: 4, input: 1000, output: 100, cost: { USD: 0.02 } },
    unmeasured: { tokens: 0, cost: 0 },
    ...over,
  };
}

describe('an estimate from earlier trials', () => {
  test('is taken from the nearest kind that there is, and says from which', () => {
    const samples = [sample(), sample({ schedule: 'flaky', seconds: 50 }), sample({ case: 'cancel', seconds: 90 })];
    const kinds = [kind({ trials: 1 }), kind({ trials: 2, schedule: 'slow' }), kind({ trials: 3, case: 'other' }), kind({ trials: 4, agent: 'new' })];
    const estimate = estimateRun(kinds, samples, 1);
    expect(estimate.trials).toBe(10);
    expect(estimate.basis).toEqual({ same: 1, case: 2, agent: 3, none: 4 });
    expect(estimate.samples).toBe(3);
    // 1 of 10 s, 2 of 30 s on average, 3 of 50 s on average.
    expect(estimate.seconds?.likely).toBeCloseTo(10 + 60 + 150);
    expect(estimate.kinds.map(({ basis, samples: own }) => [basis, own])).toEqual([
      ['same', 1],
      ['case', 2],
      ['agent', 3],
      ['none', 0],
    ]);
  });

  test('of nothing says so, and is never 0', () => {
    const estimate = estimateRun([kind()], [sample({ agent: 'another' })], 8);
    expect(estimate).toMatchObject({ seconds: null, tokens: null, cost: null, samples: 0, basis: { none: 10 }, unpriced: 10 });
  });

  test('adds trials up, and its range narrows with what is known', () => {
    const few = estimateRun([kind({ trials: 100 })], [sample({ cost: { USD: 0.01 } }), sample({ cost: { USD: 0.03 } })], 8);
    const many = estimateRun(
      [kind({ trials: 100 })],
      Array.from({ length: 20 }, (_, at) => sample({ cost: { USD: at % 2 === 0 ? 0.01 : 0.03 } })),
      8,
    );
    expect(few.cost?.['USD']?.likely).toBeCloseTo(2);
    expect(many.cost?.['USD']?.likely).toBeCloseTo(2);
    expect(many.cost?.['USD']?.high).toBeGreaterThan(2);
    expect(few.cost?.['USD']?.high).toBeGreaterThan(many.cost?.['USD']?.high ?? 0);
    // Of one earlier trial nothing tells how far others are from it.
    expect(estimateRun([kind({ trials: 1 })], [sample()], 8).cost?.['USD']?.high).toBeGreaterThan(0.04);
  });

  test('a batch takes its work side by side, and no less than its longest trial', () => {
    const samples = [sample({ seconds: 10 }), sample({ seconds: 10 }), sample({ case: 'long', seconds: 300 }), sample({ case: 'long', seconds: 300 })];
    expect(estimateRun([kind({ trials: 80 })], samples, 8).seconds).toEqual({ likely: 100, high: 100 });
    expect(estimateRun([kind({ trials: 80 }), kind({ case: 'long', trials: 1 })], samples, 8).seconds).toEqual({ likely: 300, high: 300 });
    expect(estimateRun([kind({ trials: 2 })], samples, 8).seconds).toEqual({ likely: 10, high: 10 });
  });

  test('what could not be measured is left out and counted', () => {
    const part = sample({ calls: 4, unmeasured: { tokens: 0, cost: 1 } });
    const estimate = estimateRun([kind()], [sample(), part], 8);
    expect(estimate).toMatchObject({ calls: 8, unmeasured: { tokens: 0, cost: 1 }, unpriced: 10 });
    const none = estimateRun([kind()], [sample({ input: 0, output: 0, cost: {}, unmeasured: { tokens: 4, cost: 4 } })], 8);
    expect(none).toMatchObject({ tokens: null, cost: null, unpriced: 10 });
    const callsNone = estimateRun([kind({ asksModels: false })], [sample({ calls: 0, input: 0, output: 0, cost: {} })], 8);
    expect(callsNone).toMatchObject({ tokens: null, cost: null, calls: 0, unpriced: 0 });
  });

  test('sums of two currencies stay apart', () => {
    const samples = [sample({ cost: { USD: 0.02, EUR: 0.01 } }), sample({ cost: { USD: 0.02, EUR: 0.01 } })];
    const { cost } = estimateRun([kind()], samples, 8);
    expect(Object.keys(cost ?? {})).toEqual(['EUR', 'USD']);
    expect(cost?.['EUR']?.likely).toBeCloseTo(0.1);
  });
});

describe('when a run is to be confirmed', () => {
  const estimate = { trials: 60, cost: { USD: { likely: 3, high: 4 } }, unpriced: 0 };
  const usd = (amount: number) => ({ money: { amount, currency: 'USD' } });

  test.each([
    [{}, []],
    [{ trials: 60 }, []],
    [{ trials: 59 }, ['60 trials are more than 59']],
    [usd(4), []],
    // The likely sum is below the limit, and it may well be more.
    [usd(3.5), ['models may cost 4 USD, which is more than 3.5 USD']],
    [{ money: { amount: 100, currency: 'EUR' } }, ['models are paid in USD, which cannot be held against 100 EUR']],
  ])('above %j', (limits, reasons) => {
    expect(reasonsToConfirm(estimate, limits)).toEqual(reasons);
  });

  test('what is not known is not taken to be little', () => {
    expect(reasonsToConfirm({ trials: 60, cost: null, unpriced: 5 }, usd(1000))).toEqual(['what models cost in 5 of the trials is not known']);
    expect(reasonsToConfirm({ trials: 60, cost: null, unpriced: 0 }, usd(1000))).toEqual([]);
  });

  test('of the limits of suite and machine the lower one holds', () => {
    expect(stricter({ trials: 5, ...usd(3) }, { trials: 9, ...usd(2) })).toEqual({ trials: 5, ...usd(2) });
    expect(stricter({}, { trials: 9 })).toEqual({ trials: 9 });
    expect(stricter(usd(3), {})).toEqual(usd(3));
    expect(stricter({}, {})).toEqual({});
  });

  test.each([
    ['500 trials', { trials: 500 }],
    ['1 trial,0.50 USD', { trials: 1, ...usd(0.5) }],
    ['5 USD', usd(5)],
  ])('%j is a limit', (text, limits) => {
    expect(parseConfirmAbove(text)).toEqual(limits);
    expect(readConfirmAbove({ TRIALBED_CONFIRM_ABOVE: text })).toEqual(limits);
  });

  test.each(['500', '0 trials', '5 usd', '1 trial, 2 trials', '0 USD', 'x'])('%j is none', (text) => {
    expect(parseConfirmAbove(text)).toBeNull();
    expect(() => readConfirmAbove({ TRIALBED_CONFIRM_ABOVE: text })).toThrow(ConfigError);
  });
});

const ESTIMATE: RunEstimate = {
  type: 'estimate',
  suite: 'desk',
  ...estimateRun([kind({ trials: 40 }), kind({ case: 'c\u001b[2Jx', trials: 8 }), kind({ agent: 'new', trials: 12 })], [sample(), sample({ seconds: 20 })], 8),
  concurrency: 8,
  maxCost: { amount: 2.5, currency: 'USD' },
  labels: [
    { case: 'refund', tags: [], severity: 'critical', quarantine: { reason: 'lags\u001b[2J', owner: 'mara', until: '2027-01-31' } },
    { case: 'c\u001b[2Jx', tags: [], severity: 'low', quarantine: { reason: 'late', owner: 'mara', until: '2027-01-30' } },
  ],
  today: '2027-01-31T09:00:00.000Z',
  resumes: null,
};

describe('run --dry-run', () => {
  test('prints trials, what they are likely to take, and from what; no batch is made', async () => {
    const host = new TestHost({ client: { estimate: async () => ({ ...ESTIMATE, resumes: { batch: 'b7', done: 3 } }) } });
    expect(await runCommandLine(['run', 'desk', '--dry-run', '--confirm-above', '50 trials'], host)).toBe(0);
    expect(host.stdout).toContain('desk: 60 trials, 8 at once\ngoes on with batch b7, of which 3 are done\n');
    expect(host.stdout).toMatch(/^small +none +2 +48 +the same, other cases$/m);
    expect(host.stdout).toMatch(/^new +none +1 +12 +nothing$/m);
    expect(host.stdout).toContain('2 cases with their trials: refund 52, c\\x1b[2Jx 8\n');
    expect(host.stdout).toContain(
      'severity: 1 critical, 1 low; 2 in quarantine\nrefund: in quarantine until 2027-01-31 and gates nothing (mara: lags\\x1b[2J)\n',
    );
    expect(host.stdout).toContain('c\\x1b[2Jx: its quarantine is over since 2027-01-30, and no gate is met (mara: late)\n');
    expect(host.stdout).toMatch(/^duration {2}about 1 min 30 s, nine times in ten below /m);
    expect(host.stdout).toMatch(/^tokens {4}48,000 in; 4,800 out$/m);
    expect(host.stdout).toMatch(/^money {5}0\.96 USD; no trial is launched beyond 2\.5 USD$/m);
    expect(host.stdout).toContain('from 2 earlier trials: 40 by the same case, faults and agent, 8 by other cases of the agent');
    expect(host.stdout).toContain('12 trials left out: no earlier trial to estimate from');
    expect(host.stdout).toContain('a run asks before it begins: 60 trials are more than 50');
    expect(host.stdout).not.toContain('\u001b');
  });

  test('without any earlier trial it says so', async () => {
    const nothing = { ...ESTIMATE, ...estimateRun([kind()], [], 8) };
    const host = new TestHost({ client: { estimate: async () => nothing } });
    await runCommandLine(['run', 'desk', '--dry-run'], host);
    expect(host.stdout).toContain('no earlier trial to estimate from: duration, tokens and money are not known');
    expect(host.stdout).not.toMatch(/^(duration|tokens|money)/m);
  });

  test('--json is one line', async () => {
    const host = new TestHost({ client: { estimate: async () => ESTIMATE } });
    await runCommandLine(['run', 'desk', '--dry-run', '--json', '--confirm-above', '1 trial'], host);
    expect(JSON.parse(host.stdout)).toEqual({ ...ESTIMATE, confirm: ['60 trials are more than 1'] });
  });

  test.each([40, 80, 200])('fits a terminal of %i columns', async (columns) => {
    const host = new TestHost({ client: { estimate: async () => ESTIMATE }, terminal: { columns } });
    await runCommandLine(['run', 'desk', '--dry-run'], host);
    expect(host.stdout.split('\n').filter((line) => displayWidth(line) > columns)).toEqual([]);
  });
});

describe('a run above a limit', () => {
  const above = ['run', 'desk', '--confirm-above', '50 trials'];

  test('needs --yes where nobody can be asked, and starts nothing', async () => {
    const host = new TestHost({ client: { estimate: async () => ESTIMATE } });
    expect(await runCommandLine(above, host)).toBe(2);
    expect(host.stderr).toContain('60 trials are more than 50. Give --yes');
    const json = new TestHost({ client: { estimate: async () => ESTIMATE } });
    await runCommandLine([...above, '--json'], json);
    expect(JSON.parse(json.stderr)).toMatchObject({ type: 'error', code: 'confirmation_needed' });
  });

  test.each([
    ['n', 2],
    ['', 2],
    ['y', 3],
    ['YES', 3],
    [null, 130],
  ])('the answer %j on a terminal', async (answer, exit) => {
    const begun: string[] = [];
    const client = {
      estimate: async () => ESTIMATE,
      run: async () => {
        begun.push('run');
        throw Object.assign(new Error('no server'), { code: 'ECONNREFUSED' });
      },
    };
    const asked: string[] = [];
    const host = new TestHost({
      client,
      ask: async (question) => {
        asked.push(question);
        return answer;
      },
    });
    expect(await runCommandLine(above, host)).toBe(exit);
    expect(asked).toHaveLength(1);
    expect(host.stderr).toContain('60 trials are more than 50');
    expect(begun).toHaveLength(exit === 3 ? 1 : 0);
  });

  test('with --yes, or below the limit, nobody is asked', async () => {
    const client = { estimate: async () => ESTIMATE, run: async () => Promise.reject(Object.assign(new Error('begun'), { code: 'ECONNREFUSED' })) };
    for (const args of [
      [...above, '--yes'],
      ['run', 'desk', '--confirm-above', '60 trials'],
      ['run', 'desk'],
    ]) {
      const host = new TestHost({ client, ask: async () => 'n' });
      expect(await runCommandLine(args, host)).toBe(3);
      expect(host.stderr).toContain('begun');
    }
  });
});

test.each([
  [0.04, '0 s'],
  [0.42, '0.4 s'],
  [59.6, '1 min 00 s'],
  [245, '4 min 05 s'],
  [3600, '1 h 00 min'],
  [12_000, '3 h 20 min'],
  [200_000, '2 d 8 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
