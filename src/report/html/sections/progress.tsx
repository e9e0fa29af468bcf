import type { ReportData } from '../../data.ts';
import type { AgentSeries, SeriesPoint } from '../../figures/series.ts';
import type { Rate } from '../../../domain/gates/rate.ts';
import { label } from '../charts/draw.ts';
import { progressChart, type ProgressPoint } from '../charts/progress-chart.ts';
import { Figure } from '../figure.tsx';
import { Name } from '../words.tsx';

/** Agents whose series are drawn. */
const MOST_AGENTS = 6;

/** How the suite's batches came to this one. Null: nobody asked. */
export function progressBody({ series }: Pick<ReportData, 'series'>) {
  if (series === undefined) return null;
  return (
    <>
      <p class="says">
        Batches of this suite up to this one, each over the cases and schedules that this one has too. Points are joined as long as the same is tested: at a
        dashed line agent, environment, cases, faults or graders are others, and what differs there may be due to that.
        {series.leftOut > 0 && ` ${series.leftOut} batches with fewer than half of these cases and schedules are left out.`}
      </p>
      {series.agents.slice(0, MOST_AGENTS).map((one) => (
        <>
          {series.agents.length > 1 && (
            <h3>
              <Name text={one.agent} />
            </h3>
          )}
          <Progress title="Passed" series={one} of={({ passed }) => passed} />
          <Progress title="Broke no rule" series={one} of={({ harmless }) => harmless} />
        </>
      ))}
      {series.agents.length > MOST_AGENTS && <p class="dim">{series.agents.length - MOST_AGENTS} more agents are in report.json.</p>}
    </>
  );
}

function Progress({
  title,
  series: { agent, points },
  of,
}: {
  readonly title: string;
  readonly series: AgentSeries;
  readonly of: (point: SeriesPoint) => Rate;
}) {
  const chart = progressChart(
    `${title}, ${label(agent, 60)}`,
    points.map((point): ProgressPoint => {
      const { rate, interval, of: n } = of(point);
      return { batch: point.batch, at: point.at, rate, interval, n, versions: point.versions };
    }),
  );
  return chart === null ? null : <Figure chart={chart} />;
}
