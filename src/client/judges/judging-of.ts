import type { JudgedSeries } from '../../report/judges/judged.ts';
import type { Store } from '../../store/store.ts';

/** What judges said of a batch, with the rubric of each series and what people said by it. */
export async function judgingOf({ judging }: Pick<Store, 'judging'>, batch: string): Promise<readonly JudgedSeries[]> {
  const all = await judging.seriesOf(batch);
  const judged = await Promise.all(
    all.map(async (series): Promise<readonly JudgedSeries[]> => {
      const [rubric, judgements, rated] = await Promise.all([
        judging.rubric(series.digest),
        judging.judgements(batch, series.id),
        judging.ratedByBoth(series.id),
      ]);
      return rubric === null || judgements.length === 0 ? [] : [{ series, rubric, judgements, rated }];
    }),
  );
  return judged.flat();
}
