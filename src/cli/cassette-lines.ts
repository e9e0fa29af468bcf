import type { BatchSummary } from '../domain/trial.ts';
import { plainText } from '../report/plain-text.ts';
import type { Paint } from './host.ts';

/** How a run on cassettes went along them, and what is judged otherwise than when it was recorded. */
export function cassetteLines({ cassettes, cassetteMisses = 0 }: Pick<BatchSummary, 'cassettes' | 'cassetteMisses'>, paint: Paint): string[] {
  if (!cassettes) return [];
  const { trials, recordedRoutes, differences, unused } = cassettes;
  return [
    '',
    `on cassettes, with replayed effects: ${recordedRoutes} of ${trials} trials went along the recorded route; of the others nothing is claimed about a world`,
    ...(cassetteMisses > 0
      ? [paint('yellow', `${cassetteMisses} ended as cassette_miss: neither passed nor failed; "trialbed show TRIAL" names the nearest recorded call`)]
      : []),
    ...(unused > 0 ? [`${unused} recorded interactions were not used; "trialbed show TRIAL" lists them`] : []),
    ...(differences.length === 0
      ? ['verdicts on recorded routes: as they were recorded']
      : [paint('red', `judged otherwise than recorded: ${differences.length}`), ...differences.map((line) => `  ${plainText(line)}`)]),
  ];
}
