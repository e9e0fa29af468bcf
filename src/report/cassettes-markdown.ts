import type { ReportData } from './data.ts';
import { mdTable, mdText } from './markdown.ts';

/** Differences that are listed; the rest is counted. */
const LISTED = 100;

/** How trials went along their cassettes, and which verdicts are not as they were recorded. Empty where none had one. */
export function cassettesMarkdown({ summary: { cassettes, cassetteMisses = 0 } }: Pick<ReportData, 'summary'>): string {
  if (!cassettes) return '';
  const { trials, recordedRoutes, differences, unused } = cassettes;
  const counts = mdTable(
    ['trials', 'recorded route', 'other route', 'without a recorded answer', 'interactions not used'],
    [[trials, recordedRoutes, trials - recordedRoutes - cassetteMisses, cassetteMisses, unused].map(String)],
  );
  const said = 'Effects are replayed and were not observed. A verdict stands for one of a world only on the recorded route.';
  if (differences.length === 0) return `${said}\n\n${counts}\n\nVerdicts on recorded routes are as they were recorded.`;
  const more = differences.length > LISTED ? [`- and ${differences.length - LISTED} more`] : [];
  return [said, counts, 'Judged otherwise than recorded:', [...differences.slice(0, LISTED).map((line) => `- ${mdText(line)}`), ...more].join('\n')].join(
    '\n\n',
  );
}
