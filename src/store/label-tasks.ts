import type { Sql } from './database.ts';

/** A batch and a rubric of its suite, and how far somebody is with labelling it. */
export interface LabelTask {
  readonly batch: string;
  readonly suite: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly rubric: string;
  readonly version: string;
  /** Of the rubric. */
  readonly digest: string;
  /** Trials that can be labelled. */
  readonly trials: number;
  /** Of these with a label of this person. */
  readonly labelled: number;
}

/** What has a verdict, has not begun anew, and can still be seen: the rest says nothing of the agent. */
const GRADED = `t.phase = 'done' and a.pass is not null and a.ending not in ('infra_error', 'user_error', 'cassette_miss', 'cancelled')
  and exists (select 1 from trialbed.records r where r.trial = t.id and r.attempt = t.attempt)`;
const OF_ATTEMPTS = 'trialbed.trials t join trialbed.attempts a on a.trial = t.id and a.attempt = t.attempt';

/** Trials of a batch that can be labelled, each with the attempt that counts, in no order that says anything. */
export async function trialsToLabel(sql: Sql, batch: string): Promise<readonly { readonly trial: string; readonly attempt: number }[]> {
  return sql.query(`select t.id as trial, t.attempt from ${OF_ATTEMPTS} where t.batch = $1 and ${GRADED} order by t.id`, [batch]);
}

/** For the newest batches of suites that have rubrics; of each rubric the text that was seen last. */
export async function labelTasks(sql: Sql, rater: string, limit: number): Promise<readonly LabelTask[]> {
  const rows = await sql.query<Omit<LabelTask, 'createdAt'> & { readonly createdAt: Date }>(
    `with latest as (select distinct on (suite, name) suite, name, version, digest from trialbed.rubrics order by suite, name, seen_at desc),
       recent as (select b.id, b.suite, b.created_at from trialbed.batches b where b.suite in (select suite from latest) order by b.created_at desc, b.id desc limit $2)
     select b.id as batch, b.suite, b.created_at as "createdAt", r.name as rubric, r.version, r.digest,
       (select count(*)::int from ${OF_ATTEMPTS} where t.batch = b.id and ${GRADED}) as trials,
       (select count(*)::int from ${OF_ATTEMPTS} join trialbed.labels l on l.trial = t.id and l.attempt = t.attempt
        where t.batch = b.id and ${GRADED} and l.rubric_digest = r.digest and l.rater = $1) as labelled
     from recent b join latest r on r.suite = b.suite order by b.created_at desc, b.id desc, r.name`,
    [rater, limit],
  );
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}

/** The text of a suite's rubric that was seen last, by its name. */
export async function latestRubric(sql: Sql, suite: string, name: string): Promise<string | null> {
  const [row] = await sql.query<{ digest: string }>('select digest from trialbed.rubrics where suite = $1 and name = $2 order by seen_at desc limit 1', [
    suite,
    name,
  ]);
  return row?.digest ?? null;
}

/** Names of the rubrics of a suite that were ever seen. */
export async function rubricNames(sql: Sql, suite: string): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>('select distinct name from trialbed.rubrics where suite = $1 order by 1', [suite]);
  return rows.map(({ name }) => name);
}
