import { describe, expect, test } from 'vitest';
import type { AgentSpec } from '../../src/domain/agent.ts';
import type { ContractCheck } from '../../src/domain/contract-check.ts';
import type { TrialFacts } from '../../src/domain/trial-facts.ts';
import { coverageOf } from '../../src/report/figures/coverage.ts';
import { failuresOf } from '../../src/report/figures/failures.ts';
import { mixedOf } from '../../src/report/figures/mixed.ts';
import { proofsOf } from '../../src/report/figures/proofs.ts';
import { ratesOf } from '../../src/report/figures/rates.ts';
import { spendingOf } from '../../src/report/figures/spending.ts';
import { facts, reportData, reportTrial, trial } from './report-support.ts';
import { kase } from './trial-view-support.ts';

function many(count: number, over: (at: number) => Parameters<typeof trial>[0], more: (at: number) => Partial<TrialFacts> = () => ({})): readonly TrialFacts[] {
  return Array.from({ length: count }, (_, at) => facts(reportTrial(trial({ trial: `b1-${at}`, ...over(at) })), more(at)));
}

describe('rates', () => {
  test('of independent cases have the interval of Wilson, of repeated ones one that is clustered by case', () => {
    const [alone] = ratesOf(many(25, (at) => ({ case: `c${at}` }))).agents;
    expect(alone?.views.pass).toMatchObject({ count: 25, of: 25, rate: 1, method: 'wilson' });
    expect(alone?.views.pass.interval.low).toBeCloseTo(0.8668, 4);
    expect(alone?.forbidden.interval.high).toBeCloseTo(0.1332, 4);
    const [repeated] = ratesOf(many(200, (at) => ({ case: `c${at % 50}`, repetition: 1 + Math.floor(at / 50), pass: at % 50 < 20 ? 'pass' : 'fail' }))).agents;
    expect(repeated?.views.pass.method).toBe('clustered');
    const { low, high } = repeated?.views.pass.interval ?? { low: 0, high: 0 };
    expect(high - low).toBeGreaterThan(0.2);
  });

  test('pass^k and pass@k are told apart, over the cases that have k trials (published numbers)', () => {
    const passes = [
      ...Array<number>(14).fill(0),
      ...Array<number>(12).fill(1),
      ...Array<number>(10).fill(2),
      ...Array<number>(4).fill(3),
      ...Array<number>(10).fill(4),
    ];
    const trials = passes.flatMap((count, kase) => many(4, (at) => ({ case: `c${kase}`, repetition: at + 1, pass: at < count ? 'pass' : 'fail' })));
    const [one] = ratesOf(trials).agents;
    expect(one?.allOf.map(({ rate }) => Number(rate.toFixed(4)))).toEqual([0.42, 0.2733, 0.22, 0.2]);
    expect(one?.anyOf.map(({ rate }) => Number(rate.toFixed(4)))).toEqual([0.42, 0.5667, 0.66, 0.72]);
  });

  test('what has no result is neither passed nor failed, and makes bounds', () => {
    const trials = [
      ...many(8, (at) => ({ case: `c${at}`, pass: at < 6 ? 'pass' : 'fail' })),
      ...many(2, (at) => ({ case: `i${at}`, pass: null, ending: 'infra_error' })),
    ];
    expect(ratesOf(trials).agents[0]).toMatchObject({ scored: 8, missing: 2, views: { pass: { count: 6, of: 8 } }, bounds: { low: 0.6, high: 0.8 } });
  });

  test('are told under each schedule as well, where there are several', () => {
    expect(ratesOf(many(4, () => ({}))).schedules).toEqual([]);
    const { schedules } = ratesOf(many(4, (at) => ({ schedule: at < 2 ? 'none' : 'lost', pass: at < 2 ? 'pass' : 'fail' })));
    expect(schedules.map(({ schedule, views }) => [schedule, views.pass.count, views.pass.of])).toEqual([
      ['none', 2, 2],
      ['lost', 0, 2],
    ]);
  });
});

test('what was spent includes failed attempts, and what was not measured is no zero', () => {
  const measured = { tokens: { input: 10, output: 2 }, money: { USD: 0.5 }, attempts: 3, times: { wallMs: 100, agentMs: 60, toolMs: 30, waitMs: 10 } };
  const [one] = spendingOf(
    many(
      4,
      () => ({}),
      (at) => (at === 0 ? {} : measured),
    ),
  );
  expect(one).toMatchObject({
    extraAttempts: 6,
    tokensIn: { n: 3, unmeasured: 1, sum: 30, p50: 10 },
    money: { USD: { sum: 1.5, n: 3, unmeasured: 1 } },
    agentMs: { n: 3, unmeasured: 1, max: 60 },
    waitMs: { sum: 30 },
  });
});

test('failures are counted by category with an example, findings by kind, and uncategorised is always shown', () => {
  const finding = { view: 'effects', code: 'forbidden_effect', judgement: 'fail', rule: 'closed world', message: 'm' } as const;
  const broken = { view: 'constraints', code: 'constraint_violated', judgement: 'fail', rule: 'expect.constraints[0]', message: 'n' } as const;
  const failures = failuresOf([
    ...many(
      3,
      (at) => ({ case: `c${at}`, pass: 'fail' }),
      () => ({ category: 'forbidden_effect', findings: [finding, finding, broken], unknowns: 1 }),
    ),
    ...many(1, () => ({})),
  ]);
  expect(failures.categories).toMatchObject([
    { category: 'forbidden_effect', trials: 3, example: { trial: 'b1-0', case: 'c0' } },
    { category: 'uncategorised', trials: 0, example: null },
  ]);
  expect(failures.forbidden).toMatchObject([{ code: 'forbidden_effect', rule: 'closed world', findings: 6, trials: 3 }]);
  expect(failures.constraints.map(({ rule, trials }) => [rule, trials])).toEqual([
    ['c0: expect.constraints[0]', 1],
    ['c1: expect.constraints[0]', 1],
    ['c2: expect.constraints[0]', 1],
  ]);
  expect(failures.unknowns).toEqual({ operations: 3, trials: 3, example: 'b1-0' });
});

describe('a mixed result', () => {
  const spec = new Map<string, AgentSpec>([['a'.repeat(64), { name: 'reference', version: '1', kind: 'reference' }]]);
  const two = (more: (at: number) => Partial<TrialFacts>, over: (at: number) => Parameters<typeof trial>[0] = () => ({})) =>
    mixedOf(
      many(2, (at) => ({ repetition: at + 1, pass: at === 0 ? 'pass' : 'fail', ...over(at) }), more),
      spec,
    );

  test.each<[string, ReturnType<typeof two>]>([
    ['infrastructure', two((at) => ({ attempts: at + 1 }))],
    ['fault', two((at) => ({ faults: { injected: at, unfired: 1 - at } }))],
    ['model', two(() => ({ tokens: { input: 1, output: 1 } }))],
    ['agent', two(() => ({}))],
    [
      'fault',
      two(
        () => ({}),
        (at) => ({ schedule: at === 0 ? 'none' : 'lost' }),
      ),
    ],
  ])('is explained by %s', (explained, mixed) => {
    expect(mixed).toMatchObject([{ explained, passed: 1, scored: 2, examples: { passed: 'b1-0', other: 'b1-1' } }]);
  });

  test('is none where all are equal', () => {
    expect(
      mixedOf(
        many(3, () => ({ pass: 'fail' })),
        spec,
      ),
    ).toEqual([]);
  });
});

test('what each case checks, allows and cannot see is read from the case', () => {
  const one = {
    ...kase(),
    expect: {
      ...kase().expect,
      outcomes: [
        {
          name: 'refunded',
          effects: [
            { row: 'refunds', change: 'insert', where: { amount: 5 } },
            { mail: ['a@example.org'], subject: 'Refund' },
          ],
        },
      ],
      allowed: [{ row: 'notes', change: 'insert' }],
      claims: [],
    },
  } as const;
  const table = { key: ['id'], ignored: ['updated_at'], scale: {} };
  const coverage = coverageOf(one, 'h', { tables: { refunds: table, notes: { ...table, ignored: [] }, orders: { ...table, ignored: [] } }, services: [] });
  expect(coverage.checked).toEqual(
    expect.arrayContaining([
      { what: 'table refunds', parts: ['amount'] },
      { what: 'mail', parts: ['recipients', 'subject'] },
    ]),
  );
  expect(coverage.allowed).toEqual(
    expect.arrayContaining([
      { what: 'table notes', parts: null },
      { what: 'table refunds', parts: ['any but amount'] },
    ]),
  );
  expect(coverage.unobservable).toEqual(expect.arrayContaining(['refunds.updated_at: never compared', 'inbox: the world has none']));
  expect(coverage.closed).toEqual(['orders']);
});

test('a report opens with what the batch shows, each sentence with its figure, and says what runs still and what was never tested', () => {
  const trials = [
    ...many(10, (at) => ({ case: `c${at}` })),
    ...many(2, (at) => ({ case: `l${at}`, schedule: 'idle', faults: { injected: 0, unfired: 1, fired: [0] } })),
  ];
  const { opening, proofs } = reportData([], { facts: trials });
  expect(opening).toEqual([
    'reference passed 12 of 12 trials (100.0%, 95% interval 75.8% to 100.0%).',
    'It had no forbidden effect in 12 trials, which still allows for up to 24.2% (95%).',
    'Nothing was tested by idle: no fault of it ever fired.',
    'It is compared with nothing, so whether it is safer or more useful than what is there is not told; "trialbed report BATCH --against OTHER" tells it.',
  ]);
  expect(proofs.doesNotShow).toContain('Anything of idle: no rule of it ever fired.');
  expect(proofs.doesNotShow.join(' ')).toContain('each case was run once');
  const running = reportData([], { facts: [...trials, facts(reportTrial(trial({ pass: null })), { ending: null })] });
  expect(running.opening[0]).toBe('The batch is finished, with 1 of 13 trials not done: every figure is of the others alone.');
});

test('a report says when each fixture was last compared with the real one, by this generation alone, and what differed', () => {
  const own = 'g'.repeat(64);
  const check = { environment: 'desk', generation: own, live: [], tools: 3, differences: 0, notPlayed: 0, against: null };
  const other = { environment: 'live-desk', generation: 'l'.repeat(64) };
  const inbox = { name: 'inbox', kind: 'fixture', contract: 'SMTP', checkedAt: null, cannotShow: ['delivery'] } as const;
  const facts = { services: [inbox, { ...inbox, name: 'tickets', contract: 'HTTP' }], tools: [], policy: null };
  const contracts: readonly ContractCheck[] = [
    { ...check, at: '2026-03-09T02:00:00.000Z' },
    { ...check, ...other, against: { environment: 'desk', generation: own }, live: ['tickets'], differences: 1, notPlayed: 2, at: '2026-03-08T02:00:00.000Z' },
    { ...check, at: '2026-03-07T02:00:00.000Z' },
  ];
  const environment = { name: 'desk', version: '1', generation: own, facts };
  const proofs = proofsOf({ facts: [], environment, neverFired: [], ownAccess: [], contracts });
  expect(proofs.services?.map(({ name, checkedAt }) => [name, checkedAt])).toEqual([
    ['inbox', null],
    ['tickets', '2026-03-08T02:00:00.000Z'],
  ]);
  expect(proofs.contracts).toEqual([
    'On 2026-03-09 the replies of 3 tools were held against what cassettes have of them: nothing differed. Shapes were compared, not values.',
    `On 2026-03-08 the replies of 3 tools were held against live-desk, generation ${'l'.repeat(12)}, of which one side has the real tickets: 1 shape differed, and 2 could not be made again. Shapes were compared, not values.`,
  ]);
  expect(proofs.doesNotShow.join(' ')).toMatch(
    /the real service for tickets behaves so: here it is a fixture \(HTTP\), compared with the real one on 2026-03-08/,
  );
});
