import pg from 'pg';
import type { JsonObject } from '../../domain/json.ts';
import { inTransaction, withDatabase } from '../hosts/connection.ts';
import type { Host } from '../hosts/host.ts';
import type { Inspection } from '../world.ts';
import type { Access } from './access.ts';
import { relationOf } from './catalogue.ts';
import { closeWorld } from './fence.ts';
import { searchPath } from './layout.ts';
import type { WorldRow } from './registry.ts';

const { escapeIdentifier, escapeLiteral } = pg;

/** Rows of one table that are given out for reading. */
const MAX_ROWS = 10_000;

/**
 * Closes a restored world for good and lets its role in again, to read alone: it may write to no table, the fence refuses what a function of the pack would write, and the
 * password ends with the lease. Repeated, it moves the end of the lease and ends no session. Only for a world with a database of its own, which is dropped afterwards.
 */
export async function openForReading({ host, access }: { readonly host: Host; readonly access: Access }, row: WorldRow, leaseMs: number): Promise<Inspection> {
  const { rows } = await host.admin.query<{ until: Date }>(
    `UPDATE trialbed.worlds SET lease_until = now() + $2 * interval '1 millisecond' WHERE id = $1 AND state = 'leased' RETURNING lease_until AS until`,
    [row.id, leaseMs],
  );
  const until = rows[0]?.until ?? new Date(0);
  const { layout } = row;
  const role = escapeIdentifier(layout.role);
  const closed = await access.admin.query<{ closed: boolean }>(`SELECT closed FROM ${escapeIdentifier(layout.sys)}.fence`);
  if (!closed.rows[0]?.closed) await closeWorld(access, layout, row.epoch, 0, () => undefined);
  await inTransaction(access.admin, async (client) => {
    for (const name of layout.schemas) {
      const schema = escapeIdentifier(name);
      await client.query(
        `REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role};
         REVOKE ALL ON ALL SEQUENCES IN SCHEMA ${schema} FROM ${role};
         REVOKE CREATE ON SCHEMA ${schema} FROM ${role};
         GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role};`,
      );
    }
    await client.query(
      `ALTER ROLE ${role} SET default_transaction_read_only = on;
       ALTER ROLE ${role} LOGIN PASSWORD ${escapeLiteral(row.agent_secret ?? '')} VALID UNTIL ${escapeLiteral(until.toISOString())};`,
    );
  });
  const sqlUrl = withDatabase(host.adminUrl, layout.database, { user: layout.role, password: row.agent_secret ?? '' });
  return { ref: { id: row.id, host: host.name, isolation: row.isolation, epoch: row.epoch }, owner: row.owner ?? '', until: until.toISOString(), sqlUrl };
}

/** The rows of a table, in order of its key; at most 10,000. */
export async function tableRows({ admin }: Pick<Access, 'admin'>, { tables, layout }: WorldRow, name: string): Promise<readonly JsonObject[]> {
  const table = tables[name];
  if (table === undefined) return [];
  const order = table.key.length === 0 ? '' : `ORDER BY ${table.key.map((column) => `t.${escapeIdentifier(column)}`).join(', ')}`;
  return inTransaction(admin, async (client) => {
    await client.query("SELECT set_config('search_path', $1, true)", [searchPath(layout)]);
    const { rows } = await client.query<{ row: JsonObject }>(`SELECT row_to_json(t) AS row FROM ${relationOf(table)} t ${order} LIMIT ${MAX_ROWS}`);
    return rows.map(({ row }) => row);
  });
}

/** Worlds of this host that were restored to be read, by how their owners begin. */
export async function listInspections(host: Host, ownerPrefix: string): Promise<readonly Omit<Inspection, 'sqlUrl'>[]> {
  const { rows } = await host.admin.query<{ id: string; owner: string; epoch: number; until: Date }>(
    `SELECT id, owner, epoch, lease_until AS until FROM trialbed.worlds WHERE state = 'leased' AND starts_with(owner, $1) ORDER BY owner`,
    [ownerPrefix],
  );
  return rows.map(({ id, owner, epoch, until }) => ({
    ref: { id, host: host.name, isolation: 'database', epoch },
    owner,
    until: until.toISOString(),
  }));
}
