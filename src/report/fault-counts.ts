import type { FaultSchedule } from '../domain/fault.ts';
import type { TrialFacts } from '../domain/trial-facts.ts';
import { ruleText } from './fault-words.ts';

/** What became of a fault schedule in a batch. */
export interface ScheduleReport {
  readonly schedule: string;
  readonly title: string;
  /** Trials of which the faults were recorded. */
  readonly trials: number;
  /** In the schedule's order. */
  readonly rules: readonly RuleReport[];
}

export interface RuleReport {
  /** In words. */
  readonly rule: string;
  /** How often it was injected, in all trials. */
  readonly fired: number;
  /** Of some trials, of before this was counted, it is only known that it fired. Absent: `fired` is exact. */
  readonly atLeast?: true;
  /** In how many trials. */
  readonly inTrials: number;
}

/** Counts for each schedule and each of its rules how often it fired. Schedules in order of first occurrence; `none` has no rule and is left out. */
export function scheduleReports(
  facts: readonly TrialFacts[],
  schedules: readonly { readonly hash: string; readonly schedule: FaultSchedule }[],
): readonly ScheduleReport[] {
  const documents = new Map(schedules.map(({ hash, schedule }) => [hash, schedule]));
  return [...Map.groupBy(facts, ({ schedule }) => schedule)].flatMap(([name, trials]) => {
    const schedule = documents.get(trials[0]?.scheduleHash ?? '');
    if (schedule === undefined) return [];
    const recorded = trials.filter(({ faults }) => faults !== undefined);
    return [
      { schedule: name, title: schedule.title, trials: recorded.length, rules: schedule.rules.map((rule, at) => ruleReport(ruleText(rule), at, recorded)) },
    ];
  });
}

function ruleReport(rule: string, at: number, recorded: readonly TrialFacts[]): RuleReport {
  const hit = recorded.filter(({ diagnostics, faults }) => (faults?.fired ? (faults.fired[at] ?? 0) > 0 : diagnostics?.unfiredRules?.includes(at) === false));
  const fired = hit.reduce((sum, { faults }) => sum + (faults?.fired?.[at] ?? 1), 0);
  return { rule, fired, ...(hit.some(({ faults }) => faults?.fired === undefined) && { atLeast: true }), inTrials: hit.length };
}
