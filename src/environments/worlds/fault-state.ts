import type pg from 'pg';
import { FAULT_TABLES } from './fault-ddl.ts';
import { isoUtc } from './journal.ts';
import { inSys, type Layout } from './layout.ts';

/** What a fault schedule has done to a world so far, and the world's clock: part of a snapshot. */
export interface FaultState {
  /** World time, ISO 8601. */
  readonly now: string;
  /** Rows by table; a table without rows is left out. */
  readonly rows: { readonly [table: string]: readonly object[] };
}

export async function readFaultState(client: pg.ClientBase, layout: Layout): Promise<FaultState> {
  const parts = FAULT_TABLES.map((name) => `'${name}', (SELECT json_agg(row_to_json(t) ORDER BY t::text) FROM ${inSys(layout, name)} t)`);
  const { rows } = await client.query<FaultState>(
    `SELECT ${isoUtc('now')} AS now, json_strip_nulls(json_build_object(${parts.join(', ')})) AS rows FROM ${inSys(layout, 'clock')}`,
  );
  return rows[0] ?? { now: '', rows: {} };
}

/** Into a fresh world, in the transaction of `client`. `base`: by how much the journal's numbers have moved. */
export async function restoreFaultState(client: pg.ClientBase, layout: Layout, state: FaultState, base: number): Promise<void> {
  if (state.now !== '') await client.query(`UPDATE ${inSys(layout, 'clock')} SET now = $1`, [state.now]);
  for (const name of FAULT_TABLES) {
    const relation = inSys(layout, name);
    await client.query(`INSERT INTO ${relation} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${relation}, $1::json)`, [
      JSON.stringify(state.rows[name] ?? []),
    ]);
  }
  // As of the start stays as of the start.
  await client.query(`UPDATE ${inSys(layout, 'freezes')} SET seq = seq + $1 WHERE seq > 0`, [base]);
  await client.query(`SELECT setval(pg_get_serial_sequence($1, 'n'), (SELECT coalesce(max(n), 0) + 1 FROM ${inSys(layout, 'faults')}), false)`, [
    inSys(layout, 'faults'),
  ]);
}
