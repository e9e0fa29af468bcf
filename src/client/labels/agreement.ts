import type { JudgeSeries } from '../../domain/judging.ts';
import type { StoredRubric } from '../../domain/rubric.ts';
import { type JudgesScore, type LabelAgreement, type PersonsLabel, raterAgreement } from '../../judges/rater-agreement.ts';
import type { Store } from '../../store/store.ts';

/** What of the store agreement needs. */
export type AgreementStore = { readonly judging: Pick<Store['judging'], 'labels' | 'judgements' | 'seriesOf' | 'rubric' | 'labelledBy'> };

/** Of the attempts that count of these batches' trials. Labels and judgements by another text of the rubric are not among them. */
export async function agreementBy({ judging }: AgreementStore, batches: readonly string[], { rubric, digest }: StoredRubric): Promise<LabelAgreement> {
  const labels: PersonsLabel[] = [];
  const scores: JudgesScore[] = [];
  const judges = new Map<string, JudgeSeries>();
  for (const batch of new Set(batches)) {
    labels.push(...(await judging.labels(digest, batch)));
    for (const series of await judging.seriesOf(batch)) {
      if (series.digest !== digest) continue;
      judges.set(series.id, series);
      const judgements = await judging.judgements(batch, series.id);
      scores.push(...judgements.flatMap(({ trial, category, reason }) => (category === null ? [] : [{ trial, series: series.id, category, reason }])));
    }
  }
  const scale = rubric.scale.map(({ category }) => category);
  return {
    batches: [...new Set(batches)],
    rubric: rubric.name,
    version: rubric.version,
    digest,
    scale,
    judges: [...judges.values()],
    ...raterAgreement(scale, labels, scores),
  };
}

/** By each text of a rubric by which anybody labelled trials of a batch, or a judge scored some. */
export async function agreementsOf(store: AgreementStore, batch: string): Promise<readonly LabelAgreement[]> {
  const { judging } = store;
  const [labelled, series] = await Promise.all([judging.labelledBy(batch), judging.seriesOf(batch)]);
  const digests = [...new Set([...labelled, ...series.map(({ digest }) => digest)])];
  const rubrics = await Promise.all(digests.map((digest) => judging.rubric(digest)));
  const found: LabelAgreement[] = [];
  for (const stored of rubrics) if (stored) found.push(await agreementBy(store, [batch], stored));
  return found.sort((a, b) => (a.rubric < b.rubric ? -1 : a.rubric > b.rubric ? 1 : 0));
}
