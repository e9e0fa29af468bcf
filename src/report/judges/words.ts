import type { JudgeFigures, JudgedAgent } from './figures.ts';

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
