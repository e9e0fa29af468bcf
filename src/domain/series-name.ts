import type { JudgeSeries } from './judging.ts';

/** `tone 1.0.0 by small (3f2a9c0d)`: a series by a name that people can tell from others. */
export function seriesName({ rubric, version, route, id }: JudgeSeries): string {
  return `${rubric} ${version} by ${route} (${shortId(id)})`;
}

/** As a gate names it. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
