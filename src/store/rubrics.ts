import type { JudgeSeries } from '../domain/judging.ts';
import type { StoredRubric } from '../domain/rubric.ts';
import type { Sql } from './database.ts';
import { StoreConflictError } from './store.ts';

/** Keeps a version of a suite's rubric, and what is asked of its judges now. @throws {StoreConflictError} where somebody has judged or labelled by another text of this version. */
export async function putRubric(sql: Sql, suite: string, { rubric, digest, calibration }: StoredRubric, now: Date): Promise<void> {
  const kept = await sql.query(
    `insert into trialbed.rubrics as known (suite, name, version, digest, body, calibration, seen_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (suite, name, version) do update set digest = excluded.digest, body = excluded.body, calibration = excluded.calibration, seen_at = excluded.seen_at
     where known.digest = excluded.digest or not (
       exists (select 1 from trialbed.judgements j join trialbed.judge_series s on s.id = j.series join trialbed.trials t on t.id = j.trial join trialbed.batches b on b.id = t.batch
         where s.rubric_digest = known.digest and b.suite = known.suite)
       or exists (select 1 from trialbed.labels l join trialbed.trials t on t.id = l.trial join trialbed.batches b on b.id = t.batch
         where l.rubric_digest = known.digest and b.suite = known.suite))
     returning 1`,
    [suite, rubric.name, rubric.version, digest, JSON.stringify(rubric), JSON.stringify(calibration), now],
  );
  if (kept.length === 0)
    throw new StoreConflictError(
      `rubric ${rubric.name} has changed, and its version is ${rubric.version} still, by which trials were judged or labelled: give the changed rubric a new version, which begins a new series, or undo the change`,
    );
}

/** By digest; where several suites have it, as it was seen last. */
export async function rubricOf(sql: Sql, digest: string): Promise<StoredRubric | null> {
  const [row] = await sql.query<StoredRubric>(
    'select body as rubric, digest, calibration from trialbed.rubrics where digest = $1 order by seen_at desc limit 1',
    [digest],
  );
  return row ?? null;
}

/** The first of an id stands. */
export async function putSeries(sql: Sql, series: JudgeSeries, now: Date): Promise<void> {
  await sql.query(
    `insert into trialbed.judge_series (id, rubric, version, rubric_digest, route, judge, prompt, began_at) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [series.id, series.rubric, series.version, series.digest, series.route, JSON.stringify(series.judge), series.prompt, now],
  );
}

/** Those with a judgement of a trial of the batch, in the order in which they began. */
export async function seriesOf(sql: Sql, batch: string): Promise<readonly JudgeSeries[]> {
  return sql.query<JudgeSeries>(
    `select s.id, s.rubric, s.version, s.rubric_digest as digest, s.route, s.judge, s.prompt from trialbed.judge_series s
     where exists (select 1 from trialbed.judgements j join trialbed.trials t on t.id = j.trial where j.series = s.id and t.batch = $1) order by s.began_at, s.id`,
    [batch],
  );
}
