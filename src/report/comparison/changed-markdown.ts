import type { ReportData } from '../data.ts';
import { mdText } from '../markdown.ts';
import { changedTable } from './comparison-markdown.ts';
import { representative } from './representative.ts';

/** Rows for each comparison of a report. */
const MOST_ROWS = 12;

/** Trials that came out otherwise than those of what is there: some that stand for all. Empty where nothing was compared. */
export function changedMarkdown({ comparisons }: Pick<ReportData, 'comparisons'>): string {
  return comparisons
    .flatMap(({ agent, against, comparison }) =>
      comparison === null
        ? []
        : [`${mdText(agent)} beside ${mdText(against)}:`, changedTable({ ...comparison, changed: representative(comparison.changed, MOST_ROWS) })],
    )
    .join('\n\n');
}
