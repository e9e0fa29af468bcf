import { CATEGORY_TEXTS, FAILURE_CATEGORIES, FAILURE_CATEGORY_VERSION, type FailureCategory } from '../../domain/failure-category.ts';
import { FORBIDDEN_CODES, type TrialFacts } from '../../domain/trial-facts.ts';
import type { Ending } from '../../domain/verdict.ts';

/** What went wrong, counted. */
export interface Failures {
  /** Of the list of categories. */
  readonly version: string;
  /** In the list's order; those without a trial are left out, `uncategorised` never. */
  readonly categories: readonly CategoryCount[];
  /** Findings that fail, by code and rule of the case: those of constraints, and those of effects that nobody allowed. The most frequent first. */
  readonly constraints: readonly KindCount[];
  readonly forbidden: readonly KindCount[];
  readonly endings: readonly { readonly ending: Ending | 'open'; readonly agent: string; readonly trials: number }[];
  /** Operations of unknown outcome that stayed so, and trials with one. */
  readonly unknowns: { readonly operations: number; readonly trials: number; readonly example: string | null };
}

export interface CategoryCount {
  readonly category: FailureCategory;
  readonly meaning: string;
  readonly trials: number;
  readonly byAgent: { readonly [agent: string]: number };
  /** Null: there is none. */
  readonly example: FailureExample | null;
}

export interface FailureExample {
  readonly trial: string;
  readonly case: string;
  readonly agent: string;
  readonly schedule: string;
  readonly why: string | null;
}

/** Findings of one kind. */
export interface KindCount {
  readonly code: string;
  readonly rule: string;
  readonly agent: string;
  readonly findings: number;
  readonly trials: number;
  readonly example: { readonly trial: string; readonly message: string };
}

/** Kinds that are listed. */
const MOST_KINDS = 200;

export function failuresOf(facts: readonly TrialFacts[]): Failures {
  const failed = facts.filter(({ category }) => category !== null);
  const open = facts.filter(({ unknowns }) => unknowns > 0);
  return {
    version: FAILURE_CATEGORY_VERSION,
    categories: FAILURE_CATEGORIES.map((category) => categoryCount(category, failed)).filter(
      ({ category, trials }) => trials > 0 || category === 'uncategorised',
    ),
    constraints: kindsOf(facts, ({ view, code }) => view === 'constraints' && !isForbidden(code)),
    forbidden: kindsOf(facts, ({ code }) => isForbidden(code)),
    endings: endingsOf(facts),
    unknowns: { operations: open.reduce((sum, { unknowns }) => sum + unknowns, 0), trials: open.length, example: open[0]?.trial ?? null },
  };
}

function categoryCount(category: FailureCategory, failed: readonly TrialFacts[]): CategoryCount {
  const own = failed.filter((one) => one.category === category);
  const [first] = own;
  return {
    category,
    meaning: CATEGORY_TEXTS[category],
    trials: own.length,
    byAgent: Object.fromEntries([...Map.groupBy(own, ({ agent }) => agent)].map(([agent, trials]) => [agent, trials.length])),
    example: first === undefined ? null : { trial: first.trial, case: first.case, agent: first.agent, schedule: first.schedule, why: first.why },
  };
}

function kindsOf(facts: readonly TrialFacts[], is: (finding: TrialFacts['findings'][number]) => boolean): readonly KindCount[] {
  const all = facts.flatMap(({ trial, case: kase, agent, findings }) =>
    findings.filter((finding) => finding.judgement === 'fail' && is(finding)).map((finding) => ({ trial, kase, agent, finding })),
  );
  // A rule is of its case; `closed world` is the same for all.
  const groups = Map.groupBy(all, ({ kase, agent, finding }) => JSON.stringify([agent, finding.code, ruleOf(kase, finding.rule)]));
  return [...groups.values()]
    .flatMap((group): KindCount[] => {
      const [first] = group;
      if (first === undefined) return [];
      const { kase, agent, finding } = first;
      const trials = new Set(group.map(({ trial }) => trial)).size;
      return [
        {
          code: finding.code,
          rule: ruleOf(kase, finding.rule),
          agent,
          findings: group.length,
          trials,
          example: { trial: first.trial, message: finding.message },
        },
      ];
    })
    .sort((a, b) => b.trials - a.trials)
    .slice(0, MOST_KINDS);
}

function ruleOf(kase: string, rule: string): string {
  return rule === 'closed world' || rule === 'approvals' ? rule : `${kase}: ${rule}`;
}

function isForbidden(code: string): boolean {
  return FORBIDDEN_CODES.some((one) => one === code);
}

function endingsOf(facts: readonly TrialFacts[]): Failures['endings'] {
  return [...Map.groupBy(facts, ({ agent, ending }) => JSON.stringify([agent, ending ?? 'open']))].flatMap(([, trials]) => {
    const [first] = trials;
    return first === undefined ? [] : [{ ending: first.ending ?? 'open', agent: first.agent, trials: trials.length }];
  });
}
