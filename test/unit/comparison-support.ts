import type { TrialFacts } from '../../src/domain/trial-facts.ts';
import { compareFacts, type CompareOptions } from '../../src/report/comparison/compare-facts.ts';
import type { Comparison } from '../../src/report/comparison/comparison.ts';

const PASS = { ending: 'completed', pass: 'pass', outcome: 'pass', constraints: 'pass', effects: 'pass', why: null } as const;

/** How a trial may have come out. */
export const ENDS = {
  pass: PASS,
  useless: { ...PASS, pass: 'fail', outcome: 'fail', why: 'Nothing was refunded.' },
  harmful: { ...PASS, pass: 'fail', effects: 'fail', forbidden: 1, why: 'A second refund of 25.00 was made.' },
  broken: { ...PASS, ending: 'infra_error', pass: null, outcome: null, constraints: null, effects: null, why: 'the store was lost' },
  undecided: { ...PASS, pass: 'undetermined', outcome: 'undetermined', why: 'Nobody knows.' },
} as const satisfies { readonly [name: string]: Partial<TrialFacts> };

export type End = keyof typeof ENDS;

/** One trial as a comparison reads it. */
export function facts(end: End, over: Partial<TrialFacts> = {}): TrialFacts {
  const { case: id = 'refund', schedule = 'none', repetition = 1, agent = 'hasty', batch = 'one' } = over;
  return {
    trial: `${batch}-${id}-${schedule}-${repetition}-${agent}`,
    batch,
    ordinal: 1,
    case: id,
    caseHash: `hash of ${id}`,
    schedule,
    scheduleHash: schedule === 'none' ? null : `hash of ${schedule}`,
    repetition,
    agent,
    agentHash: `hash of ${agent}`,
    generation: 'generation',
    attempts: 1,
    findings: [],
    forbidden: 0,
    category: null,
    unknowns: 0,
    calls: 5,
    tokens: null,
    money: null,
    times: { wallMs: 900, agentMs: 200, toolMs: 300, waitMs: 400 },
    ...(schedule !== 'none' && { faults: { injected: 1, unfired: 0 } }),
    tags: [],
    severity: 'medium',
    quarantine: null,
    snapshot: null,
    graded: null,
    disturbed: false,
    diagnostics: null,
    ...ENDS[end],
    ...over,
  };
}

/** Trials of one agent: an end for each case (`c1`, `c2`, ...), the same in every repetition and schedule unless it is a function. */
export function trialsOf(
  ends: readonly (End | ((schedule: string, repetition: number) => End))[],
  {
    schedules = ['none'],
    repetitions = 1,
    over = {},
  }: { readonly schedules?: readonly string[]; readonly repetitions?: number; readonly over?: Partial<TrialFacts> } = {},
): TrialFacts[] {
  return ends.flatMap((end, at) =>
    schedules.flatMap((schedule) =>
      Array.from({ length: repetitions }, (_, before) =>
        facts(typeof end === 'function' ? end(schedule, before + 1) : end, { case: `c${at + 1}`, schedule, repetition: before + 1, ...over }),
      ),
    ),
  );
}

/** `hasty` of batch `one` and `careful` of batch `two`. */
export function compared(a: readonly TrialFacts[], b: readonly TrialFacts[], options: Partial<CompareOptions> = {}): Comparison {
  return compareFacts(
    { batch: 'one', agent: 'hasty', seed: 's', facts: a },
    { batch: 'two', agent: 'careful', seed: 's', facts: b.map((one) => ({ ...one, batch: 'two', agent: 'careful', trial: one.trial.replace('one', 'two') })) },
    { today: '2026-03-02', ...options },
  );
}

/** A comparison in which this text stands wherever somebody else writes. */
export function comparisonOf(text: string): Comparison {
  const ends = Array.from(
    { length: 12 },
    (_, at) =>
      (schedule: string): End =>
        schedule === text ? 'harmful' : at % 3 === 0 ? 'useless' : 'pass',
  );
  const options = { schedules: ['none', text], over: { title: text, why: text, agent: text } };
  const comparison = compared(
    trialsOf(ends, options),
    trialsOf(
      ends.map(() => 'pass'),
      { ...options, over: { title: text } },
    ),
  );
  const step = { kind: 'call', operation: 'op-1', text, state: 'unknown (known: committed)', fault: 'smtp_final_dot' } as const;
  const timeline = [
    { a: step, b: step },
    { a: step, b: null },
  ];
  return {
    ...comparison,
    a: { ...comparison.a, agent: text },
    changed: comparison.changed.map((one, at) => ({ ...one, case: text, timeline: at < 3 ? timeline : null })),
  };
}
