import { cohensKappa, type Kappa } from '../domain/statistics/kappa.ts';
import type { Calibration } from '../domain/rubric.ts';
import { confusionTable, type RatedPair } from './confusion.ts';

/** What one series of a judge (one rubric's contents, one model, asked in one way) gave, and what people gave for the same trials. */
export interface JudgedSeries {
  /** Categories of the rubric, in its order. */
  readonly scale: readonly string[];
  readonly scores: readonly { readonly trial: string; readonly category: string }[];
  readonly labels: readonly { readonly trial: string; readonly person: string; readonly category: string }[];
  readonly calibration: Calibration;
}

/** Whether a judge may decide anything. */
export interface JudgeStanding {
  readonly calibrated: boolean;
  /** Why not, or on what; one sentence. */
  readonly why: string;
  /** Trials that have a score and a label. A trial counts once, however many people labelled it. */
  readonly labels: number;
  /** Trials with a score on which people have no most frequent category: they are evidence for no side. */
  readonly split: number;
  /** Null: not defined, see cohensKappa. */
  readonly kappa: Kappa | null;
}

/** Holds a judge against people. Where several people labelled a trial, their most frequent category is its label. */
export function judgeStanding({ scale, scores, labels, calibration }: JudgedSeries): JudgeStanding {
  const byTrial = Map.groupBy(labels, ({ trial }) => trial);
  const pairs: RatedPair[] = [];
  let split = 0;
  for (const { trial, category } of scores) {
    const own = byTrial.get(trial);
    if (!own) continue;
    const agreed = mostFrequent(own.map((one) => one.category));
    if (agreed === null) split += 1;
    else pairs.push({ first: category, second: agreed });
  }
  const kappa = cohensKappa(confusionTable(scale, pairs));
  const told = { labels: pairs.length, split, kappa };
  if (pairs.length < calibration.labels)
    return { calibrated: false, why: `people labelled ${pairs.length} of the ${calibration.labels} trials that are needed`, ...told };
  if (!kappa) return { calibrated: false, why: 'all scores and labels are of one category, so agreement cannot be told from chance', ...told };
  const shown = `kappa ${kappa.kappa.toFixed(2)} [${kappa.interval.low.toFixed(2)}, ${kappa.interval.high.toFixed(2)}] on ${pairs.length} trials`;
  const compared = calibration.at === 'lower' ? kappa.interval.low : kappa.kappa;
  if (compared < calibration.kappa - SLACK)
    return { calibrated: false, why: `${shown}; ${calibration.at === 'lower' ? 'its lower bound' : 'it'} has to be ${calibration.kappa} at least`, ...told };
  return { calibrated: true, why: shown, ...told };
}

/** Of floating point: what is exactly as large as asked is large enough. */
const SLACK = 1e-9;

/** The category that most gave; null: no single one. */
export function mostFrequent(categories: readonly string[]): string | null {
  const [first, second] = [...Map.groupBy(categories, (one) => one)].sort(([, a], [, b]) => b.length - a.length);
  return first && first[1].length > (second?.[1].length ?? 0) ? first[0] : null;
}
