import type { ReportData } from '../../data.ts';
import { rateText } from '../../figures/rate-text.ts';
import { missingText, seriesName, standingText, UNCALIBRATED_NOTE } from '../../judges/words.ts';
import { DataTable } from '../table.tsx';
import { Name, Says } from '../words.tsx';

/** Series that are listed at all. */
const LISTED = 20;

/** What judges said, a table for each series. Null: nobody judged. */
export function judgesBody({ judges }: Pick<ReportData, 'judges'>) {
  if (judges.length === 0) return null;
  return (
    <>
      {judges.some(({ standing }) => !standing.calibrated) && <p class="note">{UNCALIBRATED_NOTE}</p>}
      {judges.slice(0, LISTED).map((one) => (
        <>
          <h3>
            <Name text={seriesName(one.series)} max={300} />{' '}
            <span class={`badge ${one.standing.calibrated ? 'good' : 'wait'}`}>{one.standing.calibrated ? 'calibrated' : 'uncalibrated'}</span>
          </h3>
          <p>
            <Says text={one.rubric.question} max={600} />
          </p>
          <p class="dim">
            <Says text={standingText(one)} max={300} />
          </p>
          <DataTable
            caption={`What ${one.series.rubric} ${one.series.version} came to`}
            head={['agent', 'passes', ...one.rubric.scale.map(({ category }) => category), 'without a category']}
            numbers={one.rubric.scale.map((_, at) => at + 2)}
            sentences={[1]}
            rows={one.agents.map((agent) => [
              <Name text={agent.agent} />,
              rateText(agent.passes),
              ...agent.categories.map(({ trials }) => String(trials)),
              missingText(agent),
            ])}
          />
        </>
      ))}
      {judges.length > LISTED && <p class="dim">and {judges.length - LISTED} more series, in report.json</p>}
    </>
  );
}
