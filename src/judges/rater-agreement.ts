import { cohensKappa, type Kappa } from '../domain/statistics/kappa.ts';
import type { HumanLabel, JudgeSeries } from '../domain/judging.ts';
import { confusionTable, type RatedPair } from './confusion.ts';
import { mostFrequent } from './standing.ts';

/** A person's label of a trial. */
export type PersonsLabel = Pick<HumanLabel, 'trial' | 'rater' | 'category' | 'note'>;

/** What one series of a judge gave for a trial. */
export interface JudgesScore {
  readonly trial: string;
  /** Which series: of one rubric's contents by one judge's model. */
  readonly series: string;
  readonly category: string;
  readonly reason: string | null;
}

/** Two raters on the trials that both rated. */
export interface RaterPair {
  /** `judge`: a series, against what most people said of each trial. `people`: two persons. */
  readonly kind: 'judge' | 'people';
  readonly first: string;
  readonly second: string;
  /** Trials that both rated. */
  readonly both: number;
  /** Trials with a score on which people have no most frequent category; they are in no table. Of two persons 0. */
  readonly split: number;
  /** Rows: the first's category, columns: the second's, in the order of the scale. */
  readonly table: readonly (readonly number[])[];
  /** Null: not defined, see {@link cohensKappa}. */
  readonly kappa: Kappa | null;
  /** Fewer trials than say much. */
  readonly few: boolean;
  /** What can be said, in one sentence. */
  readonly says: string;
}

/** Somebody whose ratings of a trial differ from another's. */
export interface Disagreement {
  readonly trial: string;
  /** `judge`: a series differs from what most people said. `people`: people differ among themselves. Both may hold. */
  readonly between: readonly ('judge' | 'people')[];
  readonly scores: readonly JudgesScore[];
  readonly labels: readonly PersonsLabel[];
}

export interface RaterAgreement {
  readonly pairs: readonly RaterPair[];
  readonly disagreements: readonly Disagreement[];
  /** What most people said of each trial that anybody labelled; null: they are split. */
  readonly labelled: readonly { readonly trial: string; readonly category: string | null }[];
  /** Persons with the number of their labels, the most first. */
  readonly raters: readonly { readonly rater: string; readonly labels: number }[];
  readonly series: readonly { readonly series: string; readonly scores: number }[];
  /** Persons whose pairs are left out, since there are too many: those with the fewest labels. */
  readonly leftOut: number;
}

/** How raters agree on the trials of some batches, by one text of a rubric. */
export interface LabelAgreement extends RaterAgreement {
  readonly batches: readonly string[];
  readonly rubric: string;
  readonly version: string;
  /** Of the rubric. */
  readonly digest: string;
  /** Categories, in the order of the tables. */
  readonly scale: readonly string[];
  /** The series that scored any of these trials, in the order in which they began. */
  readonly judges: readonly JudgeSeries[];
}

/** Fewer trials than this are called few: an interval of kappa is then too wide to decide by. */
export const FEW_TRIALS = 50;
/** Persons of whom each two are compared. */
const MOST_RATERS = 8;

/** Agreement between each series of a judge and people, and between each two people. All of one rubric's contents: throws UnknownCategoryError for a category of another scale. A pure function. */
export function raterAgreement(scale: readonly string[], labels: readonly PersonsLabel[], scores: readonly JudgesScore[]): RaterAgreement {
  const byRater = [...Map.groupBy(labels, ({ rater }) => rater)].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  const bySeries = [...Map.groupBy(scores, ({ series }) => series)];
  const consensus = new Map([...Map.groupBy(labels, ({ trial }) => trial)].map(([trial, of]) => [trial, mostFrequent(of.map(({ category }) => category))]));
  const compared = byRater.slice(0, MOST_RATERS);
  return {
    pairs: [
      ...bySeries.map(([series, of]) => judgePair(scale, series, of, consensus)),
      ...compared.flatMap(([first, own], at) => compared.slice(at + 1).map(([second, others]) => peoplePair(scale, [first, own], [second, others]))),
    ],
    disagreements: disagreementsOf(labels, scores, consensus),
    labelled: [...consensus].map(([trial, category]) => ({ trial, category })),
    raters: byRater.map(([rater, of]) => ({ rater, labels: of.length })),
    series: bySeries.map(([series, of]) => ({ series, scores: of.length })),
    leftOut: byRater.length - compared.length,
  };
}

type Consensus = ReadonlyMap<string, string | null>;

function judgePair(scale: readonly string[], series: string, scores: readonly JudgesScore[], consensus: Consensus): RaterPair {
  const labelled = scores.filter(({ trial }) => consensus.has(trial));
  const pairs = labelled.flatMap(({ trial, category }) => {
    const agreed = consensus.get(trial) ?? null;
    return agreed === null ? [] : [{ first: category, second: agreed }];
  });
  return pairOf(scale, { kind: 'judge', first: series, second: 'people', split: labelled.length - pairs.length }, pairs);
}

function peoplePair(scale: readonly string[], [first, own]: Rated, [second, others]: Rated): RaterPair {
  const theirs = new Map(others.map(({ trial, category }) => [trial, category]));
  const pairs = own.flatMap(({ trial, category }) => {
    const other = theirs.get(trial);
    return other === undefined ? [] : [{ first: category, second: other }];
  });
  return pairOf(scale, { kind: 'people', first, second, split: 0 }, pairs);
}

type Rated = readonly [rater: string, labels: readonly PersonsLabel[]];

function pairOf(scale: readonly string[], of: Pick<RaterPair, 'kind' | 'first' | 'second' | 'split'>, pairs: readonly RatedPair[]): RaterPair {
  const table = confusionTable(scale, pairs);
  const kappa = cohensKappa(table);
  const few = pairs.length < FEW_TRIALS;
  return { ...of, both: pairs.length, table, kappa, few, says: `${sentence(pairs.length, kappa, few)}${splitText(of.split)}` };
}

function sentence(both: number, kappa: Kappa | null, few: boolean): string {
  if (both === 0) return 'no trial was rated by both';
  const trials = `${both} ${both === 1 ? 'trial' : 'trials'}`;
  if (kappa === null) return `kappa is not defined: both put everything into one category, on ${trials}`;
  const { low, high } = kappa.interval;
  const found = `kappa ${kappa.kappa.toFixed(2)}, 95% interval ${low.toFixed(2)} to ${high.toFixed(2)}, on ${trials}`;
  return few ? `${found}; few labels: with fewer than ${FEW_TRIALS} trials this says little` : found;
}

function splitText(split: number): string {
  return split === 0 ? '' : `; on ${split} more people are split`;
}

function disagreementsOf(labels: readonly PersonsLabel[], scores: readonly JudgesScore[], consensus: Consensus): readonly Disagreement[] {
  const scored = Map.groupBy(scores, ({ trial }) => trial);
  return [...Map.groupBy(labels, ({ trial }) => trial)].flatMap(([trial, of]) => {
    const agreed = consensus.get(trial) ?? null;
    const given = scored.get(trial) ?? [];
    const judge = agreed !== null && given.some(({ category }) => category !== agreed);
    const people = new Set(of.map(({ category }) => category)).size > 1;
    const between = [...(judge ? ['judge' as const] : []), ...(people ? ['people' as const] : [])];
    return between.length === 0 ? [] : [{ trial, between, scores: given, labels: of }];
  });
}
