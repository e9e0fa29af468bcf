import { cohensKappa, type Kappa } from '../domain/statistics/kappa.ts';
import { confusionTable, type RatedPair } from './confusion.ts';

/** What one series of a judge (one rubric's contents, one model route) gave, and what people gave for the same trials. */
export interface JudgedSeries {
  /** Categories of the rubric, in its order. */
  readonly scale: readonly string[];
  readonly scores: readonly { readonly trial: string; readonly category: string }[];
  readonly labels: readonly { readonly trial: string; readonly person: string; readonly category: string }[];
  /** Trials that people must have labelled before the judge counts. Default: 50. */
  readonly minLabels?: number;
  /** What the lower bound of kappa's interval must exceed. Default: 0, which is agreement by chance. */
  readonly minKappa?: number;
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
export function judgeStanding({ scale, scores, labels, minLabels = 50, minKappa = 0 }: JudgedSeries): JudgeStanding {
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
  if (pairs.length < minLabels)
    return { calibrated: false, why: `uncalibrated: people labelled ${pairs.length} of the ${minLabels} trials that are needed`, ...told };
  if (!kappa) return { calibrated: false, why: 'uncalibrated: all scores and labels are of one category, so agreement cannot be told from chance', ...told };
  const shown = `kappa ${kappa.kappa.toFixed(2)} [${kappa.interval.low.toFixed(2)}, ${kappa.interval.high.toFixed(2)}] on ${pairs.length} trials`;
  if (kappa.interval.low <= minKappa) return { calibrated: false, why: `uncalibrated: ${shown}; the lower bound must be above ${minKappa}`, ...told };
  return { calibrated: true, why: shown, ...told };
}

function mostFrequent(categories: readonly string[]): string | null {
  const [first, second] = [...Map.groupBy(categories, (one) => one)].sort(([, a], [, b]) => b.length - a.length);
  return first && first[1].length > (second?.[1].length ?? 0) ? first[0] : null;
}
