import { printable } from '../domain/text/bounded.ts';
import type { Sql } from './database.ts';

/** What somebody in the console may do: `viewer` sees everything, `operator` steers batches and trials as well, `approver` decides about approvals as well. `labeller` labels trials; with no other role, sees nothing else. */
export const CONSOLE_ROLES = ['viewer', 'operator', 'approver', 'labeller'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** A key of the console as it is stored: the secret itself has only its holder. */
export interface ConsoleKey {
  /** The part before the dot. */
  readonly name: string;
  /** `link`: signs in once. */
  readonly kind: 'token' | 'link' | 'session';
  /** sha256 of the secret, in hex. */
  readonly digest: string;
  /** Whom the audit log and the records of decisions name. */
  readonly holder: string;
  readonly roles: readonly ConsoleRole[];
  /** The token that a session came from. */
  readonly parent: string | null;
  readonly expiresAt: string;
}

/** A token in a list. */
export interface ListedToken extends Pick<ConsoleKey, 'name' | 'holder' | 'roles' | 'expiresAt'> {
  readonly createdAt: string;
  readonly state: 'valid' | 'expired' | 'revoked';
}

/** What ended long ago is not kept. */
const KEPT = `interval '30 days'`;

/** Adds a key, and forgets links and sessions that ended long ago. */
export async function putConsoleKey(sql: Sql, { name, kind, digest, holder, roles, parent, expiresAt }: ConsoleKey, now: Date): Promise<void> {
  await sql.query(`delete from trialbed.console_keys where kind <> 'token' and expires_at < $1::timestamptz - ${KEPT}`, [now]);
  await sql.query(
    'insert into trialbed.console_keys (name, kind, digest, holder, roles, parent, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8)',
    [name, kind, digest, printable(holder, 200), [...roles], parent, now, expiresAt],
  );
}

/** A key that is valid now; a session is only as long as the token that it came from. */
export async function findConsoleKey(sql: Sql, name: string, now: Date): Promise<ConsoleKey | null> {
  const [row] = await sql.query<Row>(
    `select ${columns('k')} from trialbed.console_keys k left join trialbed.console_keys p on p.name = k.parent
     where k.name = $1 and k.ended_at is null and k.expires_at > $2 and (p.name is null or (p.ended_at is null and p.expires_at > $2))`,
    [name, now],
  );
  return row ? keyOf(row) : null;
}

/** Whether it was valid until now. One of several who end it at once hears so. */
export async function endConsoleKey(sql: Sql, name: string, now: Date): Promise<boolean> {
  const rows = await sql.query('update trialbed.console_keys set ended_at = $2 where name = $1 and ended_at is null and expires_at > $2 returning name', [
    name,
    now,
  ]);
  return rows.length > 0;
}

/** The newest first, ended ones included. */
export async function listConsoleTokens(sql: Sql, now: Date): Promise<readonly ListedToken[]> {
  const rows = await sql.query<Row & { created_at: Date; ended_at: Date | null }>(
    `select ${columns('k')}, k.created_at, k.ended_at from trialbed.console_keys k where k.kind = 'token' order by k.created_at desc, k.name`,
  );
  return rows.map((row) => ({
    name: row.name,
    holder: row.holder,
    roles: row.roles,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    state: row.ended_at !== null ? 'revoked' : row.expires_at <= now ? 'expired' : 'valid',
  }));
}

interface Row extends Omit<ConsoleKey, 'expiresAt'> {
  readonly expires_at: Date;
}

function columns(alias: string): string {
  return ['name', 'kind', 'digest', 'holder', 'roles', 'parent', 'expires_at'].map((name) => `${alias}.${name}`).join(', ');
}

function keyOf({ expires_at, ...row }: Row): ConsoleKey {
  return { ...row, expiresAt: expires_at.toISOString() };
}
