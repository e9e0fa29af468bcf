import { rateText } from '../figures/rate-text.ts';
import type { ReportData } from '../data.ts';
import { mdCellCode, mdTable, mdText } from '../markdown.ts';
import { seriesName } from '../../domain/series-name.ts';
import { missingText, standingText, UNCALIBRATED_NOTE } from './words.ts';

/** Series that are listed at all. */
const LISTED = 20;

/** What judges said, a table for each series. Empty where nobody judged. */
export function judgesMarkdown({ judges }: Pick<ReportData, 'judges'>): string {
  const parts = judges.slice(0, LISTED).map((one) => {
    const table = mdTable(
      ['agent', 'passes', ...one.rubric.scale.map(({ category }) => mdCellCode(category)), 'without a category'],
      one.agents.map((agent) => [
        mdCellCode(agent.agent),
        mdText(rateText(agent.passes)),
        ...agent.categories.map(({ trials }) => String(trials)),
        missingText(agent),
      ]),
    );
    return [`**${mdText(seriesName(one.series))}**: ${mdText(one.rubric.question)}`, mdText(standingText(one)), table].join('\n\n');
  });
  if (judges.length > LISTED) parts.push(`and ${judges.length - LISTED} more series, in \`report.json\``);
  if (judges.some(({ standing }) => !standing.calibrated)) parts.push(UNCALIBRATED_NOTE);
  return parts.join('\n\n');
}
