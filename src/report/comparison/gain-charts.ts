import { changeChart } from '../html/charts/change-chart.ts';
import type { Chart } from '../html/figure.tsx';
import type { Answer, Comparison } from './comparison.ts';

/** Schedules of a chart: those with the most changes. */
const MOST_ROWS = 24;

/** Gains over all schedules and under each, one chart for whether it is safer and one for whether it is more useful. */
export function gainCharts({ safer, useful, schedules }: Pick<Comparison, 'safer' | 'useful' | 'schedules'>): readonly Chart[] {
  const listed = schedules.length < 2 ? [] : [...schedules].sort((one, other) => other.better + other.worse - one.better - one.worse).slice(0, MOST_ROWS);
  const chart = (title: string, all: Answer, of: (one: Comparison['schedules'][number]) => Answer): Chart =>
    changeChart(schedules.length > MOST_ROWS ? `${title} (the ${MOST_ROWS} schedules with the most changes)` : title, [
      changeOf('all schedules', all),
      ...listed.map((one) => changeOf(one.schedule === 'none' ? 'no faults' : one.schedule, of(one))),
    ]);
  return [chart('Safer', safer, (one) => one.safer), chart('More useful', useful, (one) => one.useful)];
}

function changeOf(name: string, { gain, interval, answer, wins, losses, ties }: Answer): Parameters<typeof changeChart>[1][number] {
  return { name, gain, interval, shown: answer, pairs: wins + losses + ties };
}
