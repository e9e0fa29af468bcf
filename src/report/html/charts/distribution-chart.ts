import * as Plot from '@observablehq/plot';
import { quantile } from '../../../domain/statistics/quantiles.ts';
import type { Chart } from '../figure.tsx';
import { draw, label, look } from './draw.ts';

/** Amounts of one group, such as the seconds that the trials of one agent took. */
export interface Amounts {
  readonly name: string;
  readonly values: readonly number[];
}

/** Groups that are drawn; the table has all. */
const DRAWN = 6;
const BINS = 24;
/** Beyond this ratio of the largest to the smallest a linear axis shows one bar. */
const WIDE = 50;

/** How amounts are spread, a row of bars for each group, with the half (line) and nine of ten (dashes) marked. Null where fewer than two were measured. */
export function distributionChart(title: string, unit: string, groups: readonly Amounts[]): Chart | null {
  const measured = groups.filter(({ values }) => values.length > 0);
  const drawn = measured.slice(0, DRAWN);
  const all = drawn.flatMap(({ values }) => values);
  const [low, high] = all.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Number.POSITIVE_INFINITY, 0]);
  if (all.length < 2 || high <= 0) return null;
  const log = low > 0 && high / low > WIDE;
  const edges = edgesBetween(log ? low : 0, high, log);
  const rows = drawn.map(({ name, values }, at) => ({ name: nameOf(name, at), ...figures(values), ...look(at) }));
  const bars = drawn.flatMap(({ name, values }, at) => barsOf(values, edges).map((bar) => ({ ...bar, name: nameOf(name, at), ...look(at) })));
  const svg = draw(
    {
      width: 520,
      height: drawn.length * 74 + 46,
      marginLeft: 44,
      marginRight: 12,
      marginTop: 16,
      marginBottom: 40,
      x: {
        type: log ? 'log' : 'linear',
        domain: [edges[0] ?? 0, edges.at(-1) ?? 1],
        label: `${unit}${log ? ', logarithmic' : ''} →`,
        ticks: 5,
        tickFormat: amountText,
      },
      y: { label: null, ticks: 2, tickFormat: (count: number) => (Number.isInteger(count) ? String(count) : ''), insetTop: 14 },
      fy: { domain: rows.map(({ name }) => name), axis: null, padding: 0.12 },
      marks: [
        Plot.rect(bars, { fy: 'name', x1: 'from', x2: 'to', y1: 0, y2: 'count', fill: 'color', fillOpacity: 0.75, inset: 0.5 }),
        Plot.ruleY([0]),
        Plot.ruleX(rows, { fy: 'name', x: 'p50', insetTop: 10, stroke: 'currentColor', strokeWidth: 2 }),
        Plot.ruleX(rows, { fy: 'name', x: 'p90', insetTop: 10, stroke: 'currentColor', strokeWidth: 1.5, strokeDasharray: '4,3' }),
        Plot.text(rows, { fy: 'name', frameAnchor: 'top-right', dy: -4, text: 'name', fontWeight: 600, textAnchor: 'end', fill: 'currentColor' }),
      ],
    },
    `${title}: ${rows.map(({ name, n, p50, p90 }) => `${name} half below ${amountText(p50)} ${unit}, nine of ten below ${amountText(p90)} ${unit}, of ${n} trials`).join('; ')}`,
  );
  return {
    title,
    svg,
    table: {
      caption: `${title}, ${unit}`,
      head: ['agent', 'trials', 'least', 'half below', '9 of 10 below', '99 of 100 below', 'most'],
      numbers: [1, 2, 3, 4, 5, 6],
      rows: measured.map(({ name, values }) => {
        const { n, least, p50, p90, p99, most } = figures(values);
        return [label(name, 120), String(n), ...[least, p50, p90, p99, most].map(amountText)];
      }),
    },
  };
}

/** Two groups of one short name are two. */
function nameOf(name: string, at: number): string {
  return `${at + 1}. ${label(name, 40)}`;
}

function figures(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => quantile(sorted, share) ?? 0;
  return { n: sorted.length, least: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) };
}

function edgesBetween(low: number, high: number, log: boolean): readonly number[] {
  const step = (at: number): number => (log ? low * (high / low) ** (at / BINS) : low + ((high - low) * at) / BINS);
  return Array.from({ length: BINS + 1 }, (_, at) => step(at));
}

function barsOf(values: readonly number[], edges: readonly number[]): readonly { readonly from: number; readonly to: number; readonly count: number }[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const above = edges.findIndex((edge) => value < edge);
    const bin = above === -1 ? BINS - 1 : Math.max(0, above - 1);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.flatMap((count, at) => (count === 0 ? [] : [{ from: edges[at] ?? 0, to: edges[at + 1] ?? 0, count }]));
}

/** Three digits are enough to read. */
function amountText(amount: number): string {
  return amount >= 1000 ? Math.round(amount).toLocaleString('en-US') : String(Number(amount.toPrecision(3)));
}
