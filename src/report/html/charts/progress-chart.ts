import * as Plot from '@observablehq/plot';
import type { Interval } from '../../../domain/statistics/interval.ts';
import { intervalText, percent } from '../../figures/rate-text.ts';
import type { Chart } from '../figure.tsx';
import { draw, label } from './draw.ts';

/** One batch of a series. */
export interface ProgressPoint {
  readonly batch: string;
  /** ISO 8601. */
  readonly at: string;
  /** Null: nothing was scored. */
  readonly rate: number | null;
  readonly interval: Interval;
  readonly n: number;
  /** What was tested, by kind: versions of agent, environment, cases. Where one changes, a new series begins. */
  readonly versions: { readonly [what: string]: string };
}

/** The newest that are drawn. */
const DRAWN = 400;
/** Changes with a number in the chart; the table has all. */
const MOST_NUMBERS = 30;

/** A rate over time. Points are joined only as long as the versions are the same; where these change stands a dashed line with what is new. Null with no point. */
export function progressChart(title: string, given: readonly ProgressPoint[]): Chart | null {
  const points = given
    .filter(({ at }) => !Number.isNaN(Date.parse(at)))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(-DRAWN);
  if (points.length === 0) return null;
  let series = 0;
  const drawn = points.map((point, at) => {
    const before = points[at - 1];
    const fresh = before === undefined ? [] : Object.keys(point.versions).filter((what) => point.versions[what] !== before.versions[what]);
    if (fresh.length > 0) series += 1;
    return { ...point, ...point.interval, date: new Date(point.at), series, fresh };
  });
  const changes = drawn.filter(({ fresh }) => fresh.length > 0).map((point, at) => ({ ...point, text: `${at + 1}` }));
  const svg = draw(
    {
      width: 720,
      height: 260,
      marginLeft: 50,
      marginRight: 20,
      marginTop: 24,
      marginBottom: 40,
      x: { type: 'utc', label: null, ...(points.length === 1 && { ticks: 1 }) },
      y: { domain: [0, 1], grid: true, tickFormat: (share: number) => `${Math.round(share * 100)}%`, label: null, ticks: 5 },
      marks: [
        Plot.ruleX(changes, { x: 'date', stroke: 'var(--soft)', strokeDasharray: '4,3' }),
        Plot.text(changes.slice(-MOST_NUMBERS), { x: 'date', frameAnchor: 'top', dy: -14, text: 'text', fontWeight: 600 }),
        Plot.link(drawn, { x: 'date', y1: 'low', y2: 'high', stroke: 'var(--c0)', strokeOpacity: 0.5, strokeWidth: 2 }),
        Plot.line(
          drawn.filter(({ rate }) => rate !== null),
          { x: 'date', y: 'rate', z: 'series', stroke: 'var(--c0)', strokeWidth: 2 },
        ),
        Plot.dot(
          drawn.filter(({ rate }) => rate !== null),
          { x: 'date', y: 'rate', fill: 'var(--c0)', r: 4 },
        ),
      ],
    },
    `${title}: ${points
      .slice(-10)
      .map((point) => `${point.at.slice(0, 10)} ${point.rate === null ? 'nothing scored' : percent(point.rate)}`)
      .join('; ')}`,
  );
  return {
    title: changes.length > 0 ? `${title}; dashes where what is tested changed` : title,
    svg,
    table: {
      caption: title,
      head: ['when', 'batch', 'share', '95% interval', 'trials', 'new since the one before', 'versions'],
      numbers: [2, 3, 4],
      sentences: [6],
      rows: drawn.toReversed().map(({ at, batch, rate, interval, n, versions, fresh, date }) => [
        label(at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'), 30),
        label(batch, 60),
        rate === null ? '' : percent(rate),
        intervalText(interval),
        String(n),
        fresh.length > 0 ? label(`${changes.find((one) => one.date === date)?.text ?? ''}: ${fresh.join(', ')}`, 80) : '',
        label(
          Object.entries(versions)
            .map(([what, version]) => `${what} ${version}`)
            .join('; '),
          240,
        ),
      ]),
    },
  };
}
