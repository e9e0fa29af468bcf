import type { JudgeSeries } from '../../domain/judging.ts';
import type { JudgeFigures, JudgedAgent } from './figures.ts';

/** `tone 1.0.0 by small (3f2a9c0d)`: a series by a name that people can tell from others. */
export function seriesName({ rubric, version, route, id }: JudgeSeries): string {
  return `${rubric} ${version} by ${route} (${shortId(id)})`;
}

/** As a gate names it. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Whether its figures may decide anything, and on what that rests. */
export function standingText({ standing }: Pick<JudgeFigures, 'standing'>): string {
  const split = standing.split > 0 ? `; on ${standing.split} more people are split` : '';
  return `${standing.calibrated ? 'calibrated' : 'uncalibrated'}: ${standing.why}${split}`;
}

/** What of its trials has no category. */
export function missingText({ failed, unjudged }: JudgedAgent): string {
  return [
    ...(failed > 0 ? [failed === 1 ? '1 error of the judge' : `${failed} errors of the judge`] : []),
    ...(unjudged > 0 ? [`${unjudged} not judged`] : []),
  ].join(', ');
}

export const UNCALIBRATED_NOTE =
  'An uncalibrated judge decides nothing: what it says has not been held against enough labels of people, or disagrees with them, and no gate takes it.';
