import type { QuarantinedCase } from './gates/result.ts';
import { standingOf } from './standing.ts';
import type { Quarantine, TrialFacts } from './trial-facts.ts';

/** Whether a quarantine holds on a day, ISO 8601 in UTC; its last day is one of them. After it the case counts as any other. */
export function holdsOn(quarantine: Quarantine | null, today: string): boolean {
  return quarantine !== null && today.slice(0, 10) <= quarantine.until;
}

/** Days until a quarantine is over: 1 on its last day, 0 and less after it. `today`: ISO 8601. */
export function daysLeft({ until }: Quarantine, today: string): number {
  return Math.round((Date.parse(until) - Date.parse(today.slice(0, 10))) / DAY) + 1;
}

/** Cases of a batch with a quarantine, and how they fared. `today`: ISO 8601. */
export function quarantinedOf(facts: readonly TrialFacts[], today: string): readonly QuarantinedCase[] {
  return [...Map.groupBy(facts, (one) => one.case)].flatMap(([name, own]) => {
    const quarantine = own[0]?.quarantine ?? null;
    if (quarantine === null) return [];
    const passed = own.filter((one) => standingOf(one) === 'pass').length;
    return [{ case: name, ...quarantine, over: !holdsOn(quarantine, today), trials: own.length, passed }];
  });
}

const DAY = 86_400_000;
