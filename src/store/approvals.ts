import type { ApprovalEnd, ApprovalSubject, OperationApproval } from '../domain/approval.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';
import { type AskedApproval, StoreConflictError } from './store.ts';

/** A request with the world's time at which it was made. */
type StoredSubject = ApprovalSubject & { readonly worldTime: string };

/** The first request of an operation stands, and is given back. */
export async function requestApproval(sql: Sql, trial: string, attempt: number, operation: string, subject: StoredSubject): Promise<StoredSubject> {
  await ofAttempt(trial, attempt, () =>
    sql.query('insert into trialbed.approvals (trial, attempt, operation, subject) values ($1, $2, $3, $4) on conflict do nothing', [
      trial,
      attempt,
      operation,
      sql.sealing.text(subject, subjectOf(trial), { people: subject.people }),
    ]),
  );
  const [row] = await sql.query<{ subject: StoredSubject }>('select subject from trialbed.approvals where trial = $1 and attempt = $2 and operation = $3', [
    trial,
    attempt,
    operation,
  ]);
  return row === undefined ? subject : sql.sealing.open(row.subject, subjectOf(trial));
}

/** The first end stands; but what was approved may turn out to be void when it is sent. */
export async function endApproval(sql: Sql, trial: string, attempt: number, operation: string, end: ApprovalEnd): Promise<void> {
  await sql.query(`update trialbed.approvals set ending = $4 where trial = $1 and attempt = $2 and operation = $3 and (ending is null or $5 = 'void')`, [
    trial,
    attempt,
    operation,
    sql.sealing.text(end, endingOf(trial)),
    end.outcome,
  ]);
}

export async function findApproval(sql: Sql, trial: string, attempt: number, operation: string): Promise<OperationApproval | null> {
  const [row] = await sql.query<Row>(`${SELECT} where a.trial = $1 and a.attempt = $2 and a.operation = $3`, [trial, attempt, operation]);
  return row ? approvalOf(sql, row) : null;
}

/** Of one attempt, by operation. */
export async function listApprovals(sql: Sql, trial: string, attempt: number): Promise<ReadonlyMap<string, OperationApproval>> {
  const rows = await sql.query<Row>(`${SELECT} where a.trial = $1 and a.attempt = $2`, [trial, attempt]);
  return new Map(rows.map((row) => [row.operation, approvalOf(sql, row)]));
}

/** What people are asked now, the oldest first: of attempts whose agent still acts. */
export async function waitingApprovals(sql: Sql, filter: { readonly batch?: string }): Promise<readonly AskedApproval[]> {
  const rows = await sql.query<Row>(
    `${SELECT} where a.ending is null and t.phase = 'drive' and (a.subject ->> 'people')::boolean and ($1::text is null or t.batch = $1)
     order by a.asked_at, a.trial, a.operation limit 1000`,
    [filter.batch ?? null],
  );
  return rows.map((row) => askedOf(sql, row));
}

/** Of a batch, in the attempts that count, in the manifest's order. */
export async function approvalsOf(sql: Sql, batch: string): Promise<readonly AskedApproval[]> {
  const rows = await sql.query<Row>(`${SELECT} where t.batch = $1 order by t.ordinal, a.asked_at, a.operation limit 10000`, [batch]);
  return rows.map((row) => askedOf(sql, row));
}

/**
 * By id, or by a prefix that only one request has, among those that have ended as well.
 *
 * @throws {StoreConflictError} when several have it.
 */
export async function askedApproval(sql: Sql, idOrPrefix: string): Promise<AskedApproval | null> {
  if (idOrPrefix === '' || idOrPrefix.includes('\0')) return null;
  const pattern = `${idOrPrefix.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const rows = await sql.query<Row>(`${SELECT} where ${ID} like $1 order by ${ID} = $2 desc, a.ending is not null, ${ID} limit 4`, [pattern, idOrPrefix]);
  const asked = rows.map((row) => askedOf(sql, row));
  const [first] = asked;
  if (first === undefined) return null;
  if (first.id === idOrPrefix || asked.length === 1) return first;
  const waiting = asked.filter(({ approval }) => approval.end === null);
  if (waiting.length === 1 && waiting[0]) return waiting[0];
  const ids = asked.slice(0, 3).map(({ id }) => id);
  throw new StoreConflictError(`several requests begin with "${idOrPrefix}": ${ids.join(', ')}${asked.length > 3 ? ', ...' : ''}; give more of the id`);
}

interface Row {
  readonly trial: string;
  readonly attempt: number;
  readonly operation: string;
  readonly subject: StoredSubject;
  readonly ending: ApprovalEnd | null;
  readonly batch: string;
  readonly case_id: string;
  readonly agent_name: string;
}

/** How a person names a request. */
const ID = `a.trial || '.' || a.attempt || '.' || a.operation`;

const SELECT = `
  select a.trial, a.attempt, a.operation, a.subject, a.ending, t.batch, t.case_id, t.agent_name
  from trialbed.approvals a join trialbed.trials t on t.id = a.trial and t.attempt = a.attempt`;

function approvalOf({ sealing }: Sql, row: Pick<Row, 'trial' | 'subject' | 'ending'>): OperationApproval {
  const { worldTime: _, ...subject } = sealing.open(row.subject, subjectOf(row.trial));
  return { ...subject, end: sealing.open(row.ending, endingOf(row.trial)) };
}

/** An end that stands in the other already stays. */
export async function copyApprovals(
  sql: Sql,
  from: { readonly trial: string; readonly attempt: number },
  to: { readonly trial: string; readonly attempt: number },
  operations: readonly string[],
): Promise<void> {
  const rows = await sql.query<Pick<Row, 'operation' | 'subject' | 'ending'>>(
    'select operation, subject, ending from trialbed.approvals where trial = $1 and attempt = $2 and operation = any ($3::text[])',
    [from.trial, from.attempt, operations],
  );
  for (const { operation, subject, ending } of rows) {
    await requestApproval(sql, to.trial, to.attempt, operation, sql.sealing.open(subject, subjectOf(from.trial)));
    const end = sql.sealing.open(ending, endingOf(from.trial));
    if (end) await endApproval(sql, to.trial, to.attempt, operation, end);
  }
}

function subjectOf(trial: string): string {
  return placeOf('approvals', 'subject', trial);
}

function endingOf(trial: string): string {
  return placeOf('approvals', 'ending', trial);
}

function askedOf(sql: Sql, row: Row): AskedApproval {
  const { trial, attempt, operation, batch, case_id: kase, agent_name: agent } = row;
  return { id: `${trial}.${attempt}.${operation}`, trial, attempt, operation, batch, case: kase, agent, approval: approvalOf(sql, row) };
}
