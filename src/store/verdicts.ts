import type { TrialRecord } from '../domain/record.ts';
import type { TrialSummary } from '../domain/trial.ts';
import { firstFinding, type Verdict, whyOf } from '../domain/verdict.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';
import { openSummary, summaryText } from './summaries.ts';
import type { StoredVerdict } from './store.ts';

/**
 * Needs a transaction. A verdict that is there already (attempt, grader version, case hash) keeps its text and date, and becomes the
 * current one: so grading again by a case file that was changed back shows that file's verdict.
 * The summary of a finished attempt follows the current verdict; one that was never scored stays without.
 */
export async function addVerdict(sql: Sql, trial: string, attempt: number, verdict: Verdict, gradedAt: Date): Promise<void> {
  const [stored] = await ofAttempt(trial, attempt, () =>
    sql.query<{ body: Verdict }>(
      `insert into trialbed.verdicts as v (trial, attempt, grader_version, case_hash, graded_at, body) values ($1, $2, $3, $4, $5, $6)
       on conflict (trial, attempt, grader_version, case_hash) do update set rank = nextval('trialbed.verdict_rank')
       returning v.body`,
      [trial, attempt, verdict.graderVersion, verdict.caseHash, gradedAt, sql.sealing.text(verdict, placeOf('verdicts', 'body', trial))],
    ),
  );
  const [row] = await sql.query<{ summary: TrialSummary | null; problem: TrialRecord['problem'] }>(
    'select summary, problem from trialbed.attempts where trial = $1 and attempt = $2 for update',
    [trial, attempt],
  );
  const summary = openSummary(sql, trial, row?.summary ?? null);
  if (stored === undefined || summary === null || summary.pass === null) return;
  await sql.query('update trialbed.attempts set summary = $3 where trial = $1 and attempt = $2', [
    trial,
    attempt,
    summaryText(
      sql,
      regraded(
        summary,
        sql.sealing.open(row?.problem ?? null, placeOf('attempts', 'problem', trial)),
        sql.sealing.open(stored.body, placeOf('verdicts', 'body', trial)),
      ),
    ),
  ]);
}

/** All of a trial, oldest grading first. */
export async function listVerdicts(sql: Sql, trial: string): Promise<readonly StoredVerdict[]> {
  const rows = await sql.query<{ attempt: number; graded_at: Date; body: Verdict; current: boolean }>(
    `select v.attempt, v.graded_at, v.body,
       v.attempt = t.attempt and v.rank = max(v.rank) over (partition by v.attempt) as current
     from trialbed.verdicts v join trialbed.trials t on t.id = v.trial where v.trial = $1 order by v.attempt, v.rank`,
    [trial],
  );
  return rows.map((row) => ({
    ...sql.sealing.open(row.body, placeOf('verdicts', 'body', trial)),
    trial,
    attempt: row.attempt,
    gradedAt: row.graded_at.toISOString(),
    current: row.current,
  }));
}

function regraded(summary: TrialSummary, problem: TrialRecord['problem'], verdict: Verdict): TrialSummary {
  // A summary whose verdict stays as it was keeps the sentence that it was finished with.
  const same = summary.pass === verdict.pass && summary.outcome === verdict.outcome.judgement && summary.constraints === verdict.constraints.judgement;
  if (same && summary.effects === verdict.effects.judgement) return summary;
  return {
    ...summary,
    pass: verdict.pass,
    outcome: verdict.outcome.judgement,
    constraints: verdict.constraints.judgement,
    effects: verdict.effects.judgement,
    why: whyOf(summary.ending, summary.ending === 'completed' ? null : problem, firstFinding(verdict)),
  };
}
