import type pg from 'pg';
import type { JsonObject } from '../../domain/json.ts';
import { CHANGES } from './changes-ddl.ts';
import { inSys, type Layout } from './layout.ts';
import type { Positions } from './positions.ts';

/** A change beside rows and mails, with the row as it was (null: it was not there) and as it was then. */
export interface Change {
  readonly n: number;
  readonly tbl: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject;
}

export interface Point {
  readonly operation: string;
  /** Null where it was proposed in a world of an earlier version. */
  readonly positions: Positions | null;
  /** Dispatches of it up to this one can write nothing any more. */
  readonly fenced: number;
}

/** What the state of a world at an earlier operation is made from, beside its journal: part of a snapshot. */
export interface Past {
  /** By operation, in the order in which they were proposed: where sequences, journal and changes stood before it. */
  readonly points: readonly Point[];
  /** In order. */
  readonly changes: readonly Change[];
  /** Where the numbers of journal and mails stand now. */
  readonly journal: Positions['journal'];
}

export async function readPast(client: pg.ClientBase, layout: Layout): Promise<Past> {
  const points = await client.query<Past['points'][number]>(
    `SELECT o.id AS operation, a.positions, a.fenced FROM ${inSys(layout, 'operations')} o JOIN ${inSys(layout, 'attempts')} a ON a.operation = o.id ORDER BY o.n`,
  );
  const changes = await client.query<Omit<Change, 'n'> & { readonly n: string }>(`SELECT n, tbl, before, after FROM ${inSys(layout, CHANGES)} ORDER BY n`);
  const journal = await client.query<Positions['journal']>(`SELECT last_value::text AS value, is_called AS called FROM ${inSys(layout, 'seq')}`);
  return {
    points: points.rows,
    changes: changes.rows.map((row) => ({ ...row, n: Number(row.n) })),
    journal: journal.rows[0] ?? { value: '1', called: false },
  };
}

/** Into a fresh world, last: what was put into it until now is no change of the trial's. `base`: by how much the journal's numbers have moved. */
export async function restorePast(client: pg.ClientBase, layout: Layout, past: Past | null, base: number): Promise<void> {
  const changes = inSys(layout, CHANGES);
  const moved = (past?.points ?? []).map((point) => ({
    ...point,
    positions: point.positions && { ...point.positions, journal: shifted(point.positions.journal, base) },
  }));
  await client.query(
    `UPDATE ${inSys(layout, 'attempts')} a SET positions = p.positions, fenced = greatest(a.fenced, p.fenced)
       FROM json_to_recordset($1::json) AS p (operation text, positions json, fenced integer) WHERE p.operation = a.operation`,
    [JSON.stringify(moved)],
  );
  await client.query(`DELETE FROM ${changes}`);
  await client.query(`INSERT INTO ${changes} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${changes}, $1::json)`, [
    JSON.stringify(past?.changes ?? []),
  ]);
  await client.query(`SELECT setval(pg_get_serial_sequence($1, 'n'), (SELECT coalesce(max(n), 0) + 1 FROM ${changes}), false)`, [changes]);
}

/** The highest number that journal and mails have used, those of what was rolled back included. */
export function numbersUsed(past: Past | undefined, base: number): number {
  if (!past) return 0;
  return Number(past.journal.value) + base - (past.journal.called ? 0 : 1);
}

function shifted({ value, called }: Positions['journal'], base: number): Positions['journal'] {
  return { value: String(Number(value) + base), called };
}
