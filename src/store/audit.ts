import { printable } from '../domain/text/bounded.ts';
import type { Sql } from './database.ts';

/** Who asks for something, and by which way. */
export interface Actor {
  /** User and machine, or the holder of a token. */
  readonly by: string;
  readonly via: 'cli' | 'library' | 'console';
  /** Roles of the token that it is asked with; null: none is needed. */
  readonly roles: readonly string[] | null;
}

/** What became of a request: `asked` until that is known, and for ever where the process ended meanwhile. */
export type AuditOutcome = 'asked' | 'done' | 'refused' | 'failed';

/** What somebody asks for. */
export interface AuditedAct extends Actor {
  /** For example `approve`, `cancel`, `purge`. */
  readonly action: string;
  /** Id of the batch, trial or request, or what else it is asked of. */
  readonly target: string;
  /** What was given with it, such as a reason. */
  readonly detail: string | null;
}

/** A line of the audit log. */
export interface AuditEntry extends AuditedAct {
  /** Rises from entry to entry. */
  readonly id: number;
  readonly at: string;
  readonly outcome: AuditOutcome;
  /** Why it was refused or failed. */
  readonly problem: string | null;
}

export interface AuditFilter {
  /** Only of this batch, trial or request: those whose target is this, or begins with it and goes on with `-` or `.`. */
  readonly target?: string;
  /** Only older ones than this entry. */
  readonly before?: number;
  /** Default 100. */
  readonly limit?: number;
}

/** Adds a line; its number tells {@link endAudited} which. Texts are cut to what a line may have. */
export async function addAudited(sql: Sql, act: AuditedAct, end: Pick<AuditEntry, 'outcome' | 'problem'>, now: Date): Promise<number> {
  const [row] = await sql.query<{ id: string }>(
    `insert into trialbed.audit (at, actor, via, roles, action, target, detail, outcome, problem) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
    [
      now,
      printable(act.by, 200),
      act.via,
      act.roles === null ? null : [...act.roles],
      printable(act.action, 60),
      printable(act.target, 300),
      bounded(act.detail),
      end.outcome,
      bounded(end.problem),
    ],
  );
  return Number(row?.id);
}

/** What became of it. The first end stands. */
export async function endAudited(sql: Sql, id: number, end: Pick<AuditEntry, 'outcome' | 'problem'>): Promise<void> {
  await sql.query(`update trialbed.audit set outcome = $2, problem = $3 where id = $1 and outcome = 'asked'`, [id, end.outcome, bounded(end.problem)]);
}

/** The newest first. */
export async function listAudited(sql: Sql, { target, before, limit = 100 }: AuditFilter): Promise<readonly AuditEntry[]> {
  const rows = await sql.query<Omit<AuditEntry, 'id' | 'at'> & { id: string; at: Date }>(
    `select id, at, actor as by, via, roles, action, target, detail, outcome, problem from trialbed.audit
     where ($1::text is null or target = $1 or target like $2 || '-%' or target like $2 || '.%') and ($3::bigint is null or id < $3)
     order by id desc limit $4`,
    [target ?? null, target?.replaceAll(/[\\%_]/g, '\\$&') ?? null, before ?? null, limit],
  );
  return rows.map((row) => ({ ...row, id: Number(row.id), at: row.at.toISOString() }));
}

function bounded(text: string | null): string | null {
  return text === null ? null : printable(text, 1_000);
}
