import type { ReportData } from './data.ts';
import { isolationLines } from './figures/isolation.ts';
import { mdTable, mdText } from './markdown.ts';

/** What leaked out of trials and what came into them; zero is told as zero. */
export function isolationMarkdown({ isolation }: Pick<ReportData, 'isolation'>): string {
  return mdTable(
    ['what', 'number', ''],
    isolationLines(isolation).map(({ what, count, says }) => [what, count === '0' || count === 'not counted' ? count : `**${count}**`, mdText(says)]),
  );
}
