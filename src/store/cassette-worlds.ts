import type { JsonObject } from '../domain/json.ts';
import type { Database, Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/** An operation of an attempt that is played on a cassette. */
export interface CassetteOperation {
  readonly id: string;
  /** Which interaction answered it, from 0; null: none has, or it needs none. */
  readonly entry: number | null;
  readonly body: JsonObject;
}

export interface CassetteClock {
  readonly now: Date;
  readonly timezone: string;
  /** Nothing is answered any more. */
  readonly closed: boolean;
}

/** What stands for worlds of attempts that are played on cassettes. Every method but `make` and `drop` does nothing, or gives null, where the world is gone. */
export interface CassetteWorldRows {
  /** Once; a second call changes nothing. */
  make(id: string, world: { readonly trial: string; readonly now: Date; readonly timezone: string }): Promise<void>;
  /** Its trial; null: there is no such world. */
  trialOf(id: string): Promise<string | null>;
  clock(id: string): Promise<CassetteClock | null>;
  /** Moves the clock, never back, once for each key. */
  advance(id: string, key: string, by: { readonly seconds: number } | { readonly to: Date }): Promise<CassetteClock | null>;
  close(id: string): Promise<void>;
  drop(id: string): Promise<void>;
  /** Drops those of trials of which nothing more is to come. Gives how many there were. */
  sweep(): Promise<number>;
  late(id: string, attempt: JsonObject): Promise<void>;
  lateAttempts(id: string): Promise<readonly JsonObject[]>;
  /** Adds an operation; one that is there stays as it is. False where the world is gone. */
  add(world: { readonly id: string; readonly trial: string }, operation: string, body: JsonObject): Promise<boolean>;
  /** With the clock, in one look. Null where the world is gone. */
  read(id: string, operation: string): Promise<{ readonly operation: CassetteOperation | null; readonly clock: CassetteClock } | null>;
  /** In the order in which they were added. */
  all(id: string): Promise<readonly CassetteOperation[]>;
  /**
   * Changes one operation while nobody else changes any of its world; `change` sees all of them and gives what it is to be, or null to leave it. Null where the world or the
   * operation is gone.
   */
  change(
    id: string,
    operation: string,
    change: (own: CassetteOperation, all: readonly CassetteOperation[], clock: CassetteClock) => Pick<CassetteOperation, 'entry' | 'body'> | null,
  ): Promise<CassetteOperation | null>;
}

/** {@link CassetteWorldRows} in the store's tables. */
export function cassetteWorldRows(database: Database): CassetteWorldRows {
  return {
    async make(id, { trial, now, timezone }) {
      await database.query('insert into trialbed.cassette_worlds (id, trial, now, timezone) values ($1, $2, $3, $4) on conflict do nothing', [
        id,
        trial,
        now,
        timezone,
      ]);
    },
    async trialOf(id) {
      const [row] = await database.query<{ trial: string }>('select trial from trialbed.cassette_worlds where id = $1', [id]);
      return row?.trial ?? null;
    },
    async clock(id) {
      const [row] = await database.query<CassetteClock>('select now, timezone, closed from trialbed.cassette_worlds where id = $1', [id]);
      return row ?? null;
    },
    async advance(id, key, by) {
      const [row] = await database.query<CassetteClock>(
        `update trialbed.cassette_worlds
            set now = case when $2 = any (moved) then now else greatest(now, coalesce($4::timestamptz, now + $3::float8 * interval '1 second')) end,
                moved = case when $2 = any (moved) then moved else moved || $2 end
          where id = $1 returning now, timezone, closed`,
        [id, key, 'seconds' in by ? by.seconds : 0, 'to' in by ? by.to : null],
      );
      return row ?? null;
    },
    async close(id) {
      await database.query('update trialbed.cassette_worlds set closed = true where id = $1', [id]);
    },
    async drop(id) {
      await database.query('delete from trialbed.cassette_worlds where id = $1', [id]);
    },
    async sweep() {
      const rows = await database.query(
        'delete from trialbed.cassette_worlds w using trialbed.trials t where t.id = w.trial and t.settled is not null returning w.id',
      );
      return rows.length;
    },
    async late(id, attempt) {
      await database.query('update trialbed.cassette_worlds set late = (late::jsonb || $2::jsonb)::json where id = $1', [id, JSON.stringify([attempt])]);
    },
    async lateAttempts(id) {
      const [row] = await database.query<{ late: readonly JsonObject[] }>('select late from trialbed.cassette_worlds where id = $1', [id]);
      return row?.late ?? [];
    },
    async add({ id, trial }, operation, body) {
      const rows = await database.query(
        `with w as (select id, trial from trialbed.cassette_worlds where id = $1 and trial = $4),
              o as (insert into trialbed.cassette_operations (world, trial, id, body) select id, trial, $2, $3 from w on conflict do nothing)
         select id from w`,
        [id, operation, sealed(database, trial, body), trial],
      );
      return rows.length > 0;
    },
    async read(id, operation) {
      const [row] = await database.query<CassetteClock & Partial<StoredOperation>>(
        `select w.now, w.timezone, w.closed, w.trial, o.id, o.entry, o.body
           from trialbed.cassette_worlds w left join trialbed.cassette_operations o on o.world = w.id and o.id = $2 where w.id = $1`,
        [id, operation],
      );
      if (!row) return null;
      const { now, timezone, closed } = row;
      return { operation: isOperation(row) ? opened(database, row) : null, clock: { now, timezone, closed } };
    },
    all: (id) => listOperations(database, id),
    change: (id, operation, change) =>
      database.transaction(async (sql) => {
        const [clock] = await sql.query<CassetteClock>('select now, timezone, closed from trialbed.cassette_worlds where id = $1 for update', [id]);
        if (!clock) return null;
        const all = await listOperations(sql, id);
        const own = all.find((one) => one.id === operation);
        const changed = own && change(own, all, clock);
        if (!own || !changed) return own ?? null;
        await sql.query('update trialbed.cassette_operations set entry = $3, body = $4 where world = $1 and id = $2', [
          id,
          operation,
          changed.entry,
          sealed(sql, own.trial, changed.body),
        ]);
        return { id: operation, ...changed };
      }),
  };
}

interface StoredOperation {
  readonly id: string;
  readonly trial: string;
  readonly entry: number | null;
  readonly body: JsonObject;
}

function isOperation(row: Partial<StoredOperation>): row is StoredOperation {
  return typeof row.id === 'string';
}

async function listOperations(sql: Sql, id: string): Promise<readonly (CassetteOperation & { readonly trial: string })[]> {
  const rows = await sql.query<StoredOperation>('select id, trial, entry, body from trialbed.cassette_operations where world = $1 order by n', [id]);
  return rows.map((row) => ({ ...opened(sql, row), trial: row.trial }));
}

function opened(sql: Sql, { id, trial, entry, body }: StoredOperation): CassetteOperation {
  return { id, entry, body: sql.sealing.open(body, placeOf('cassette_operations', 'body', trial)) };
}

function sealed(sql: Sql, trial: string, body: JsonObject): string {
  return sql.sealing.text(body, placeOf('cassette_operations', 'body', trial));
}
