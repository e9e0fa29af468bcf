import type { FaultSchedule } from '../domain/fault.ts';
import type { RecordedFaults } from '../domain/record.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
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
  /** In how many trials. */
  readonly inTrials: number;
}

/** What a report reads of one trial. */
export interface TrialWithFaults {
  /** Null for `none`. */
  readonly schedule: FaultSchedule | null;
  readonly faults: RecordedFaults | null;
}

/** Counts for each schedule and each of its rules how often it fired. Schedules in order of first occurrence; `none` has no rule and is left out. */
export function scheduleReports(trials: readonly TrialWithFaults[]): readonly ScheduleReport[] {
  const byName = Map.groupBy(
    trials.flatMap(({ schedule, faults }) => (schedule === null ? [] : [{ schedule, faults }])),
    ({ schedule }) => schedule.name,
  );
  return [...byName].flatMap(([name, group]) => {
    const [first] = group;
    if (first === undefined) return [];
    const recorded = group.flatMap(({ faults }) => (faults === null ? [] : [faults]));
    const rules = first.schedule.rules.map((rule, index) => {
      const counts = recorded.map(({ injected }) => injected.filter((fault) => fault.rule === index).length);
      return { rule: ruleText(rule), fired: counts.reduce((sum, count) => sum + count, 0), inTrials: counts.filter((count) => count > 0).length };
    });
    return [{ schedule: name, title: first.schedule.title, trials: recorded.length, rules }];
  });
}

/** The production runtime of a batch; null where no record states it. A batch has one environment, so one is all there is. */
export function runtimeIn(trials: readonly TrialWithFaults[]): ProductionRuntime | null {
  return trials.find(({ faults }) => faults !== null)?.faults?.runtime ?? null;
}
