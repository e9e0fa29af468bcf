import { clusteredRate } from '../statistics/clustered.ts';
import type { Interval } from '../statistics/interval.ts';
import { wilson } from '../statistics/wilson.ts';
import type { TrialFacts } from '../trial-facts.ts';

/** A share with a 95% interval. */
export interface Rate {
  readonly count: number;
  readonly of: number;
  /** Null: of nothing. */
  readonly rate: number | null;
  readonly interval: Interval;
  /** `clustered`: cases repeat, so that their trials are alike. */
  readonly method: 'wilson' | 'clustered';
}

/** Of independent trials Wilson's interval; clustered by case where cases repeat. */
export function rateOf(scored: readonly TrialFacts[], is: (one: TrialFacts) => boolean): Rate {
  const clusters = [...Map.groupBy(scored, (one) => one.case).values()].map((own) => own.map((one) => (is(one) ? 1 : 0)));
  const count = clusters.flat().filter((one) => one === 1).length;
  const of = scored.length;
  const independent = clusters.length === of;
  const clustered = independent ? null : clusteredRate(clusters);
  return {
    count,
    of,
    rate: of === 0 ? null : count / of,
    interval: clustered?.interval ?? wilson(count, of),
    method: clustered === null ? 'wilson' : 'clustered',
  };
}
