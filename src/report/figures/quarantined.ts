import type { QuarantinedCase } from '../../domain/gates/result.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import { isQuarantined, standingOf } from './standing.ts';

/** Cases of a batch with a quarantine, and how they fared. `today`: ISO 8601. */
export function quarantinedOf(facts: readonly TrialFacts[], today: string): readonly QuarantinedCase[] {
  return [...Map.groupBy(facts, (one) => one.case)].flatMap(([name, own]) => {
    const [first] = own;
    if (!first?.quarantine) return [];
    const passed = own.filter((one) => standingOf(one) === 'pass').length;
    return [{ case: name, ...first.quarantine, over: !isQuarantined(first, today), trials: own.length, passed }];
  });
}
