/** A confidence interval: both ends belong to it. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Confidence of every interval unless another is asked for. */
export const LEVEL = 0.95;

/** The part of an interval that lies within the values that are possible at all. */
export function within(interval: Interval, least: number, most: number): Interval {
  return { low: clamp(interval.low, least, most), high: clamp(interval.high, least, most) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
