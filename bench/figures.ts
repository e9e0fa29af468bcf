/** Figures of one section, by the names that the JSON has. By concurrency where a figure depends on it. */
export type Figure = number | null | { readonly [concurrency: string]: number | null };
export interface Figures {
  readonly [name: string]: Figure;
}

/** How much is measured. */
export interface Effort {
  /** A fifth of the work, for a look; its figures are rough. */
  readonly quick: boolean;
}

export const CONCURRENCIES = [1, 10, 50, 100] as const;

/** Of numbers in any order, to a tenth. @throws where there are none: a figure of nothing would pass for one. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  if (value === undefined) throw new Error('nothing was measured');
  return rounded(value, 1);
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** Runs the same work in so many lanes until the items are used up. @returns the seconds that it took. */
export async function inLanes<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  const queue = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await work(item);
    }),
  );
  return (performance.now() - startedAt) / 1000;
}

/** Milliseconds of some work, kept in a list. */
export async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const value = await work();
  times.push(performance.now() - startedAt);
  return value;
}
