import type { TrialFacts } from '../../../domain/trial-facts.ts';
import type { ReportData } from '../../data.ts';
import { rateText } from '../../figures/rate-text.ts';
import { seriesName } from '../../../domain/series-name.ts';
import type { JudgeFigures } from '../../judges/figures.ts';
import { missingText, standingText, UNCALIBRATED_NOTE } from '../../judges/words.ts';
import { DataTable } from '../table.tsx';
import { Id, Name, Says } from '../words.tsx';

/** Series that are listed at all. */
const LISTED = 20;
/** Trials of a series that are shown with the judge's words. */
const WITH_REASON = 20;

/** What judges said, a table for each series. Null: nobody judged. */
export function judgesBody({ judges, facts }: Pick<ReportData, 'judges' | 'facts'>) {
  if (judges.length === 0) return null;
  const named = new Map(facts.map((one) => [one.trial, one]));
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
          <NotPassed judge={one} named={named} />
        </>
      ))}
      {judges.length > LISTED && <p class="dim">and {judges.length - LISTED} more series, in report.json</p>}
    </>
  );
}

/** What did not pass by a judge, or has no category, with its words. */
function NotPassed({ judge, named }: { readonly judge: JudgeFigures; readonly named: ReadonlyMap<string, TrialFacts> }) {
  const rows = judge.judgements.filter(({ category }) => category === null || !judge.rubric.passes.includes(category));
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption={`What did not pass by ${judge.series.rubric} ${judge.series.version}, in the judge's words`}
      head={['case', 'agent', 'trial', 'category', 'why']}
      sentences={[4]}
      rows={rows
        .slice(0, WITH_REASON)
        .map(({ trial, category, reason, problem }) => [
          <Name text={named.get(trial)?.case ?? ''} />,
          <Name text={named.get(trial)?.agent ?? ''} />,
          <Id text={trial} />,
          category === null ? 'none' : <Name text={category} />,
          <Says text={problem?.message ?? reason ?? 'removed'} max={400} />,
        ])}
      more={{ rows: rows.length - WITH_REASON, where: 'in report.json' }}
    />
  );
}
