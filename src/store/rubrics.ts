import type { JudgeSeries } from '../domain/judging.ts';
import type { StoredRubric } from '../domain/rubric.ts';
import type { Sql } from './database.ts';
import { StoreConflictError } from './store.ts';

/** Keeps a version of a suite's rubric, and what is asked of its judges now. @throws {StoreConflictError} where this version had another text. */
export async function putRubric(sql: Sql, suite: string, { rubric, digest, calibration }: StoredRubric, now: Date): Promise<void> {
  const [row] = await sql.query<{ digest: string }>(
    `insert into trialbed.rubrics (suite, name, version, digest, body, calibration, seen_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (suite, name, version) do update set
       calibration = case when rubrics.digest = excluded.digest then excluded.calibration else rubrics.calibration end,
       seen_at = case when rubrics.digest = excluded.digest then excluded.seen_at else rubrics.seen_at end
     returning digest`,
    [suite, rubric.name, rubric.version, digest, JSON.stringify(rubric), JSON.stringify(calibration), now],
  );
  if (row && row.digest !== digest)
    throw new StoreConflictError(
      `rubric ${rubric.name} has changed, and its version is ${rubric.version} still: what was judged and labelled by that version was judged by another text. Give the changed rubric a new version, or undo the change`,
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
