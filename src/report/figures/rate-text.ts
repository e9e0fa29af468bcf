import type { Interval } from '../../domain/statistics/interval.ts';
import type { Rate } from '../../domain/gates/rate.ts';

/** `12 of 40 trials (30.0%, 95% interval 18.1% to 45.4%)`. */
export function rateText({ count, of, rate, interval }: Rate): string {
  return `${count} of ${of} ${of === 1 ? 'trial' : 'trials'}${rate === null ? '' : ` (${percent(rate)}, 95% interval ${intervalText(interval)})`}`;
}

/** A share from 0 to 1. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

export function intervalText({ low, high }: Interval): string {
  return `${percent(low)} to ${percent(high)}`;
}
