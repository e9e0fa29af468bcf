import * as Plot from '@observablehq/plot';
import type { Interval } from '../../../domain/statistics/interval.ts';
import type { Chart } from '../figure.tsx';
import { draw, label } from './draw.ts';

/** One difference between two agents. */
export interface Change {
  readonly name: string;
  /** From -1 to 1, above 0 where the candidate is better; null: not known. */
  readonly gain: number | null;
  readonly interval: Interval;
  /** What the interval shows. */
  readonly shown: 'yes' | 'no' | 'not_shown';
  /** Pairs of trials. */
  readonly pairs: number;
}

const DRAWN = 40;
/** Better, worse and not shown differ in colour, in shape and in words. */
const LOOKS = {
  yes: { color: 'var(--c0)', symbol: 'triangle', text: 'better' },
  no: { color: 'var(--c1)', symbol: 'square', text: 'worse' },
  not_shown: { color: 'var(--soft)', symbol: 'circle', text: 'not shown' },
} as const;

/** Differences with their intervals around the line of no difference. */
export function changeChart(title: string, changes: readonly Change[]): Chart {
  const drawn = changes.slice(0, DRAWN).map((one, y) => ({ ...one, ...one.interval, ...LOOKS[one.shown], y, label: label(one.name, 28) }));
  const reach = Math.min(1, Math.max(0.1, ...drawn.flatMap(({ low, high, gain }) => [Math.abs(low), Math.abs(high), Math.abs(gain ?? 0)])));
  const svg = draw(
    {
      width: 720,
      height: drawn.length * 26 + 52,
      marginLeft: 200,
      marginRight: 170,
      marginTop: 6,
      marginBottom: 42,
      x: { domain: [-reach, reach], tickFormat: points, grid: true, ticks: 5, label: '← worse · percentage points · better →', labelAnchor: 'center' },
      y: { type: 'linear', domain: [-0.6, drawn.length - 0.4], reverse: true, axis: null },
      marks: [
        Plot.ruleX([0], { stroke: 'currentColor', strokeWidth: 1.5 }),
        Plot.text(drawn, { frameAnchor: 'left', y: 'y', text: 'label', dx: -192, textAnchor: 'start' }),
        Plot.link(drawn, { x1: 'low', x2: 'high', y: 'y', stroke: 'color', strokeWidth: 2.5 }),
        Plot.dot(
          drawn.filter(({ gain }) => gain !== null),
          { x: 'gain', y: 'y', fill: 'color', symbol: 'symbol', r: 5.5 },
        ),
        Plot.text(drawn, {
          frameAnchor: 'right',
          y: 'y',
          dx: 12,
          textAnchor: 'start',
          text: ({ gain, text }: (typeof drawn)[number]) => (gain === null ? 'not known' : `${points(gain)}, ${text}`),
        }),
      ],
    },
    `${title}: ${drawn.map(({ label: name, gain, interval, text }) => `${name} ${gain === null ? 'not known' : points(gain)}, interval ${points(interval.low)} to ${points(interval.high)}, ${text}`).join('; ')}`,
  );
  return {
    title,
    svg,
    table: {
      caption: `${title}, in percentage points`,
      head: ['what', 'difference', 'interval', 'shown', 'pairs of trials'],
      numbers: [1, 2, 4],
      rows: changes
        .slice(0, 200)
        .map(({ name, gain, interval, shown, pairs }) => [
          label(name, 120),
          gain === null ? 'not known' : points(gain),
          `${points(interval.low)} to ${points(interval.high)}`,
          LOOKS[shown].text,
          String(pairs),
        ]),
    },
  };
}

function points(share: number): string {
  const rounded = Math.round(share * 1000) / 10;
  return `${rounded > 0 ? '+' : ''}${Object.is(rounded, -0) ? 0 : rounded}`;
}
