import { Changed } from '../../comparison/changed-part.tsx';
import { Limits, Schedules, Sides } from '../../comparison/figures-part.tsx';
import { representative } from '../../comparison/representative.ts';
import type { ReportData } from '../../data.ts';
import { Id, Name, Says } from '../words.tsx';

/** Changed trials of each comparison, and those whose timelines are shown. */
const MOST_CHANGED = 20;
const MOST_TIMELINES = 4;

/** How the batch's agents compare with what is there. Null: nothing was compared. */
export function comparedBody({ comparisons }: Pick<ReportData, 'comparisons'>) {
  if (comparisons.length === 0) return null;
  return (
    <>
      {comparisons.map(({ agent, against, lines, comparison }, at) => (
        <>
          <h3>
            <Name text={agent} /> beside <Name text={against} max={160} />
          </h3>
          <ul class="list">
            {lines.map((line) => (
              <li>
                <Says text={line} max={1_000} />
              </li>
            ))}
          </ul>
          {comparison !== null && (
            <>
              <Schedules comparison={comparison} />
              <h3>Changed trials</h3>
              <p class="says">
                Some that stand for all {comparison.changes}, those in which <Name text={agent} /> is worse first. All of them, with their timelines:{' '}
                <Id text={`trialbed compare ${against} ${comparison.b.batch}:${agent} --html FILE`} />.
              </p>
              <Changed
                comparison={{ ...comparison, changed: representative(comparison.changed, MOST_CHANGED) }}
                rows={MOST_CHANGED}
                timelines={MOST_TIMELINES}
                id={`changed-${at + 1}`}
              />
              <h3>How far this goes</h3>
              <Limits comparison={comparison} />
              <Sides comparison={comparison} />
            </>
          )}
        </>
      ))}
    </>
  );
}
