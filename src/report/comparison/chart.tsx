import type { Answer, Comparison } from './comparison.ts';
import { plainText, shorten } from '../plain-text.ts';
import { gainText } from './comparison-markdown.ts';

/** Gains under each schedule with their intervals, over all first: a circle for safer, a square for more useful. The table below it has the figures. */
export function GainChart({ comparison }: { readonly comparison: Comparison }) {
  const { safer, useful, schedules } = comparison;
  const rows: readonly Row[] = [
    { name: 'all schedules', safer, useful },
    ...[...schedules]
      .sort((one, other) => other.better + other.worse - one.better - one.worse)
      .slice(0, MOST_ROWS)
      .map((one) => ({ name: one.schedule, safer: one.safer, useful: one.useful })),
  ];
  const height = TOP + rows.length * ROW + BOTTOM;
  const bottom = height - BOTTOM;
  return (
    <figure>
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label="Gains under each fault schedule with their intervals; the table below has the figures">
        {TICKS.map((tick) => (
          <>
            <line class={tick === 0 ? 'zero' : 'grid'} x1={x(tick)} x2={x(tick)} y1={TOP - 6} y2={bottom} />
            <text class="tick" x={x(tick)} y={bottom + 16} text-anchor="middle">
              {tick > 0 ? `+${tick * 100}` : `${tick * 100}`.replace('-', '−')}
            </text>
          </>
        ))}
        <text class="tick" x={x(-1)} y={12}>
          worse
        </text>
        <text class="tick" x={x(1)} y={12} text-anchor="end">
          better
        </text>
        {rows.map(({ name, safer: first, useful: second }, at) => (
          <>
            <text class="name" x={LEFT - 12} y={TOP + at * ROW + 17} text-anchor="end">
              {shorten(plainText(name), 28)}
            </text>
            <Mark answer={first} y={TOP + at * ROW + 8} kind="safer" />
            <Mark answer={second} y={TOP + at * ROW + 18} kind="useful" />
          </>
        ))}
      </svg>
      <figcaption>
        <span class="key safer">● safer</span> <span class="key useful">■ more useful</span>
        {schedules.length > MOST_ROWS && ` The ${MOST_ROWS} schedules with the most changes.`}
      </figcaption>
    </figure>
  );
}

interface Row {
  readonly name: string;
  readonly safer: Answer;
  readonly useful: Answer;
}

const WIDTH = 860;
const LEFT = 220;
const RIGHT = 20;
const TOP = 24;
const BOTTOM = 24;
const ROW = 28;
const MOST_ROWS = 24;
const TICKS = [-1, -0.5, 0, 0.5, 1];

function Mark({ answer, y, kind }: { readonly answer: Answer; readonly y: number; readonly kind: 'safer' | 'useful' }) {
  const { gain, interval } = answer;
  if (gain === null) return null;
  const at = x(gain);
  return (
    <g class={`mark ${kind}`}>
      <title>{gainText(answer)}</title>
      <line x1={x(interval.low)} x2={x(interval.high)} y1={y} y2={y} />
      {kind === 'safer' ? <circle cx={at} cy={y} r="4" /> : <rect x={at - 3.5} y={y - 3.5} width="7" height="7" />}
    </g>
  );
}

function x(gain: number): number {
  return Math.round((LEFT + ((gain + 1) / 2) * (WIDTH - LEFT - RIGHT)) * 10) / 10;
}
