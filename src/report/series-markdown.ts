import type { ReportData } from './data.ts';
import { intervalText, percent } from './figures/rate-text.ts';
import type { Rate } from '../domain/gates/rate.ts';
import { mdCellCode, mdTable, mdText } from './markdown.ts';
import { shorten } from './plain-text.ts';

/** Batches of one agent, and agents, that are listed; the newest. */
const POINTS = 12;
const AGENTS = 4;

/** How the suite's batches came to this one; empty where nobody asked. */
export function seriesMarkdown({ series }: Pick<ReportData, 'series'>): string {
  if (series === undefined) return '';
  const table = mdTable(
    ['agent', 'when', 'batch', 'passed', 'broke no rule', 'new since the one before'],
    series.agents.slice(0, AGENTS).flatMap(({ agent, points }) =>
      points
        .slice(-POINTS)
        .reverse()
        .map((one) => [
          mdCellCode(shorten(agent, 80)),
          mdText(one.at.slice(0, 10)),
          mdCellCode(one.batch),
          cell(one.passed),
          cell(one.harmless),
          one.fresh.join(', '),
        ]),
    ),
  );
  const left = series.leftOut > 0 ? ` ${series.leftOut} batches with fewer than half of these cases and schedules are left out.` : '';
  return `Each over the cases and schedules that this batch has too, the newest first.${left}\n\n${table}`;
}

function cell({ count, of, rate, interval }: Rate): string {
  return rate === null ? 'nothing scored' : `${count}/${of} = ${percent(rate)} (${intervalText(interval)})`;
}
