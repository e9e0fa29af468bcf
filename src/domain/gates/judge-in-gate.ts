import { nearestName } from '../text/nearest.ts';
import { seriesName, shortId } from '../series-name.ts';
import type { Gate } from './gate.ts';
import type { GateJudge } from './gate-judge.ts';

/** The series that a gate on a judge speaks of, for all agents of the batch the same; or, in words, why no judge may decide it and what to do. */
export function judgeInGate({ rubric, series }: NonNullable<Gate['judge']>, judges: readonly GateJudge[]): GateJudge | string {
  const own = judges.filter((one) => one.series.rubric === rubric);
  if (own.length === 0) {
    const near = nearestName(rubric, [...new Set(judges.map((one) => one.series.rubric))]);
    return `nobody has judged these trials by the rubric "${rubric}"${near === null || near === rubric ? '' : ` (did you mean "${near}"?)`}; \`trialbed judge BATCH --rubric ${rubric}\` does, and \`trialbed report BATCH\` judges the gate then`;
  }
  const named = series === null ? own : own.filter((one) => one.series.version === series || (series.length >= MIN_ID && one.series.id.startsWith(series)));
  const [only, another] = named;
  const known = own.map((one) => seriesName(one.series)).join(', ');
  if (only === undefined) return `the rubric "${rubric}" has no version or series "${series}" here; there are: ${known}`;
  if (another !== undefined) return `judgements of several series would be mixed: ${known}; name one, as in judge[${rubric}@${shortId(only.series.id)}]`;
  if (!only.standing.calibrated)
    return `the judge ${seriesName(only.series)} is uncalibrated: ${only.standing.why}; an uncalibrated judge decides nothing: have people label trials that it has judged, or take the gate out`;
  return only;
}

const MIN_ID = 4;
