import type pg from 'pg';
import type { StateChange } from '../../domain/case.ts';
import { covers, type InjectedFault } from '../../domain/fault.ts';
import { firstTime } from './clock.ts';
import { inSys, type Layout } from './layout.ts';
import type { WorldRow } from './registry.ts';
import { applyState } from './state.ts';

/** How long somebody else's change waits for a writer that holds the row. */
const CHANGE_PATIENCE_MS = 10_000;

/** Notes a fault, in the transaction of `client`. One of equal rule, operation and position is the same, met again. */
export async function noteFault(client: pg.ClientBase, layout: Layout, fault: Omit<InjectedFault, 'at'>, byService: boolean): Promise<void> {
  await client.query(
    `INSERT INTO ${inSys(layout, 'faults')} AS f (rule, kind, target, position, operation, detail, by_service, at)
     SELECT $1, $2, $3, $4, $5, $6, $7, now FROM ${inSys(layout, 'clock')}
     ON CONFLICT (rule, coalesce(operation, ''), coalesce(position, 0)) DO UPDATE SET hits = f.hits + 1, by_service = f.by_service OR excluded.by_service`,
    [fault.rule, fault.kind, fault.on, fault.position, fault.operation, fault.detail, byService],
  );
}

/** How often a rule has hit an operation, or, without one, clients of their own. */
export async function hitsOf(client: pg.ClientBase, layout: Layout, rule: number, operation: string | null): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT coalesce(sum(hits), 0)::int AS n FROM ${inSys(layout, 'faults')} WHERE rule = $1 AND operation IS NOT DISTINCT FROM $2`,
    [rule, operation],
  );
  return rows[0]?.n ?? 0;
}

/** Sets a limit, or moves a standing one further away. */
export async function setLimit(client: pg.ClientBase, layout: Layout, on: string, until: Date, rule: number | null): Promise<void> {
  await client.query(
    `INSERT INTO ${inSys(layout, 'limits')} AS l (target, until, rule) VALUES ($1, $2, $3)
     ON CONFLICT (target) DO UPDATE SET until = greatest(l.until, excluded.until), rule = excluded.rule`,
    [on, until.toISOString(), rule],
  );
}

export interface Freeze {
  readonly service: 'database' | 'tickets' | 'all';
  readonly asOf: 'trigger' | 'start';
  readonly reads: number | null;
  readonly forSeconds: number | null;
}

/**
 * From now on reads are stale. `start`: as of the agent's first message, so what fault rules did before it belongs to it.
 *
 * @returns whether the rule was triggered for the first time.
 */
export async function setFreeze(client: pg.ClientBase, row: WorldRow, rule: number, freeze: Freeze): Promise<boolean> {
  const { layout } = row;
  const atStart = (row.lease?.faults ?? []).filter((known) => known.on === 'start').map((known) => known.index);
  const { rowCount } = await client.query(
    `INSERT INTO ${inSys(layout, 'freezes')} (rule, service, seq, reads, until)
     SELECT $1, $2, coalesce((SELECT max(seq) FROM ${inSys(layout, 'journal')} WHERE CASE WHEN $3 THEN phase = 'fault' AND rule = ANY($4::integer[]) ELSE true END), 0),
            $5, c.now + $6::double precision * interval '1 second' FROM ${inSys(layout, 'clock')} c
     ON CONFLICT DO NOTHING`,
    [rule, freeze.service, freeze.asOf === 'start', atStart, freeze.reads, freeze.forSeconds],
  );
  return rowCount === 1;
}

/** Counts a tool's read as a request of the database, and triggers what rules on that service say of it. A read of an operation counts once. */
export async function freezeByRead(client: pg.ClientBase, row: WorldRow, operation: string | null): Promise<void> {
  const { layout } = row;
  const rules = (row.lease?.faults ?? []).filter((rule) => typeof rule.on !== 'string' && 'service' in rule.on && rule.on.service === 'database');
  if (rules.length === 0 || (operation !== null && !(await firstTime(client, layout, `read ${operation}`)))) return;
  const { rows } = await client.query<{ n: number }>(
    `INSERT INTO ${inSys(layout, 'counters')} AS c (service, requests) VALUES ('database', 1)
     ON CONFLICT (service) DO UPDATE SET requests = c.requests + 1 RETURNING requests AS n`,
  );
  const position = rows[0]?.n ?? 1;
  for (const { fault, index, calls } of rules) {
    if (fault.kind !== 'stale_read' || !covers(calls === undefined ? {} : { calls }, position)) continue;
    const { asOf, reads = null, forSeconds = null } = fault;
    if (!(await setFreeze(client, row, index, { service: 'database', asOf, reads, forSeconds }))) continue;
    const detail = `reads of the tables answer as of ${asOf === 'start' ? 'the start' : 'now'}`;
    await noteFault(client, layout, { rule: index, kind: fault.kind, on: 'service database', position, operation, detail }, false);
  }
}

/** What a read answers as of, and counts it. All reads of one operation are one, so that they answer alike. */
export async function countRead(
  client: pg.ClientBase,
  layout: Layout,
  service: 'database' | 'tickets',
  operation: string | null,
): Promise<{ readonly rule: number; readonly seq: number } | null> {
  const { rows } = await client.query<{ rule: number; seq: string; reads: number | null }>(
    `SELECT rule, seq, reads FROM ${inSys(layout, 'freezes')}
      WHERE service IN ($1, 'all') AND (until IS NULL OR until > (SELECT now FROM ${inSys(layout, 'clock')})) ORDER BY seq, rule FOR UPDATE`,
    [service],
  );
  for (const { rule, seq, reads } of rows) {
    const found = { rule, seq: Number(seq) };
    if (reads === null) return found;
    const { rows: counted } = await client.query<{ n: number; same: boolean }>(
      `SELECT count(*)::int AS n, coalesce(bool_or(operation = $2), false) AS same FROM ${inSys(layout, 'stale')} WHERE rule = $1`,
      [rule, operation],
    );
    if (counted[0]?.same) return found;
    if ((counted[0]?.n ?? 0) >= reads) continue;
    await client.query(`INSERT INTO ${inSys(layout, 'stale')} (rule, operation) VALUES ($1, $2)`, [rule, operation]);
    return found;
  }
  return null;
}

/**
 * Rows change by somebody else's hand, once for each key. A writer that holds one of them is waited for, bounded.
 *
 * @throws {WorldStateError} when the changes do not fit the world as it is then.
 */
export async function changeRows(client: pg.ClientBase, row: WorldRow, rule: number, key: string, changes: readonly StateChange[]): Promise<boolean> {
  if (!(await firstTime(client, row.layout, `change ${key}`))) return false;
  await client.query(`SET LOCAL lock_timeout = ${CHANGE_PATIENCE_MS}`);
  await applyState(client, row.layout, row.tables, changes, rule);
  return true;
}
