import * as Plot from '@observablehq/plot';
import type { Interval } from '../../../domain/statistics/interval.ts';
import { intervalText, percent } from '../../figures/rate-text.ts';
import type { Chart } from '../figure.tsx';
import { draw, label, look } from './draw.ts';

/** One line of a chart of shares. */
export interface IntervalRow {
  /** Rows of one group stand together below its name; null: there are no groups. */
  readonly group: string | null;
  readonly name: string;
  /** Null: of nothing. */
  readonly rate: number | null;
  readonly interval: Interval;
  readonly count: number;
  readonly of: number;
}

/** Rows that are drawn; the table has more. */
const DRAWN = 40;
const LISTED = 200;

/** Shares with their intervals, a line each; who is who is told by name, colour and shape. */
export function intervalChart(title: string, rows: readonly IntervalRow[]): Chart {
  const names = [...new Set(rows.map(({ name }) => name))];
  const lines = linesOf(rows.slice(0, DRAWN));
  const drawn = lines.flatMap(({ y, row }) => (row === null ? [] : [{ y, ...row, ...row.interval, ...look(names.indexOf(row.name)) }]));
  const points = drawn.filter(({ rate }) => rate !== null);
  const svg = draw(
    {
      width: 660,
      height: lines.length * 24 + 32,
      marginLeft: 165,
      marginRight: 155,
      marginTop: 6,
      marginBottom: 24,
      x: { domain: [0, 1], tickFormat: (share: number) => `${Math.round(share * 100)}%`, grid: true, label: null, ticks: 5 },
      y: { type: 'linear', domain: [-0.6, lines.length - 0.4], reverse: true, axis: null },
      marks: [
        Plot.text(lines, {
          frameAnchor: 'left',
          y: 'y',
          text: 'text',
          dx: -160,
          textAnchor: 'start',
          fontWeight: 600,
          filter: ({ row }: Line) => row === null,
        }),
        Plot.text(lines, { frameAnchor: 'left', y: 'y', text: 'text', dx: -150, textAnchor: 'start', filter: ({ row }: Line) => row !== null }),
        Plot.link(drawn, { x1: 'low', x2: 'high', y: 'y', stroke: 'color', strokeWidth: 2.5 }),
        ...(['low', 'high'] as const).map((end) =>
          Plot.ruleX(drawn, { x: end, y1: ({ y }: Placed) => y - 0.2, y2: ({ y }: Placed) => y + 0.2, stroke: 'color', strokeWidth: 2.5 }),
        ),
        Plot.dot(points, { x: 'rate', y: 'y', fill: 'color', symbol: 'symbol', r: 5 }),
        Plot.text(drawn, {
          frameAnchor: 'right',
          y: 'y',
          dx: 12,
          textAnchor: 'start',
          text: ({ rate, count, of }: IntervalRow) => (rate === null ? 'nothing scored' : `${percent(rate)}  (${count} of ${of})`),
        }),
      ],
    },
    `${title}: ${rows.slice(0, DRAWN).map(spoken).join('; ')}`,
  );
  return {
    title: rows.length > DRAWN ? `${title} (the first ${DRAWN} of ${rows.length})` : title,
    svg,
    table: {
      caption: title,
      head: [...(rows.some(({ group }) => group !== null) ? ['under', 'agent'] : ['agent']), 'share', '95% interval', 'trials', 'of'],
      numbers: rows.some(({ group }) => group !== null) ? [2, 3, 4, 5] : [1, 2, 3, 4],
      rows: rows
        .slice(0, LISTED)
        .map(({ group, name, rate, interval, count, of }) => [
          ...(group === null ? [] : [label(group, 120)]),
          label(name, 120),
          rate === null ? '' : percent(rate),
          intervalText(interval),
          String(count),
          String(of),
        ]),
      more: { rows: Math.max(0, rows.length - LISTED), where: 'in report.json' },
    },
  };
}

/** A line of the chart: the name of a group, or a row. */
interface Line {
  readonly y: number;
  readonly text: string;
  readonly row: IntervalRow | null;
}

type Placed = Pick<Line, 'y'>;

function linesOf(rows: readonly IntervalRow[]): readonly Line[] {
  const lines: Line[] = [];
  let group: string | null = null;
  for (const row of rows) {
    if (row.group !== null && row.group !== group) lines.push({ y: lines.length, text: label(row.group, 22), row: null });
    group = row.group;
    lines.push({ y: lines.length, text: label(row.name, 20), row });
  }
  return lines;
}

function spoken({ group, name, rate, interval }: IntervalRow): string {
  const who = group === null ? label(name) : `${label(group)}, ${label(name)}`;
  return `${who} ${rate === null ? 'nothing scored' : `${percent(rate)}, 95% interval ${intervalText(interval)}`}`;
}
