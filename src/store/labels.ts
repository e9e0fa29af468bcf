import type { HumanLabel } from '../domain/judging.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/** Another label of the same person, for the same attempt and rubric, takes the place of the first. */
export async function putLabel(sql: Sql, label: HumanLabel): Promise<void> {
  const { trial, attempt, rubric, version, digest, rater, category, note, at } = label;
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.labels (trial, attempt, rubric, version, rubric_digest, rater, category, note, labelled_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (trial, attempt, rubric_digest, rater) do update set category = excluded.category, note = excluded.note, labelled_at = excluded.labelled_at`,
      [trial, attempt, rubric, version, digest, rater, category, note === null ? null : sql.sealing.text(note, placeOf('labels', 'note', trial)), at],
    ),
  );
}

/** By one rubric's contents, in the order of trials and raters. `batch`: of the attempts that count of its trials; null: of every attempt of every batch. */
export async function listLabels(sql: Sql, digest: string, batch: string | null): Promise<readonly HumanLabel[]> {
  const rows = await sql.query<Omit<HumanLabel, 'at'> & { readonly at: Date }>(
    `select l.trial, l.attempt, l.rubric, l.version, l.rubric_digest as digest, l.rater, l.category, l.note, l.labelled_at as at
     from trialbed.labels l join trialbed.trials t on t.id = l.trial
     where l.rubric_digest = $1 and ($2::text is null or (t.batch = $2 and t.attempt = l.attempt)) order by l.trial, l.attempt, l.rater`,
    [digest, batch],
  );
  return rows.map((row) => ({
    ...row,
    note: row.note === null ? null : sql.sealing.open(row.note, placeOf('labels', 'note', row.trial)),
    at: row.at.toISOString(),
  }));
}

/** Rubrics by which anybody labelled trials of a batch, by digest. */
export async function labelledBy(sql: Sql, batch: string): Promise<readonly string[]> {
  const rows = await sql.query<{ digest: string }>(
    `select distinct l.rubric_digest as digest from trialbed.labels l join trialbed.trials t on t.id = l.trial and t.attempt = l.attempt where t.batch = $1 order by 1`,
    [batch],
  );
  return rows.map(({ digest }) => digest);
}
