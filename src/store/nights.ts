import type { NightFaults, NightFinding, NightState, NightVersions, VersionChange } from '../domain/night.ts';
import type { Database } from './database.ts';

/** One time that a schedule was due. */
export interface NightRow {
  readonly id: string;
  readonly schedule: string;
  readonly due: Date;
  /** Null: it never began. */
  readonly workflow: string | null;
  readonly began: Date | null;
  readonly ended: Date | null;
  readonly state: NightState;
  readonly batch: string | null;
  readonly why: string | null;
  readonly body: NightBody;
}

/** What is known of a night beside its row; what is absent was not found out. */
export interface NightBody {
  readonly trials?: { readonly planned: number; readonly ended: number };
  readonly versions?: NightVersions;
  readonly changes?: readonly VersionChange[];
  readonly faults?: NightFaults;
  readonly findings?: readonly NightFinding[];
  /** How many findings there were beside those that are kept. */
  readonly moreFindings?: number;
  readonly cleaned?: NightCleaned;
  /** Where it was told, and what came of that. */
  readonly told?: readonly { readonly to: string; readonly problem: string | null }[];
  /** Folder of its report. */
  readonly report?: string;
}

/** What a night found of earlier ones that had not ended in order, and removed. */
export interface NightCleaned {
  readonly nights: readonly string[];
  readonly batches: readonly string[];
  readonly worlds: number;
  /** What could not be removed now. */
  readonly problems: readonly string[];
}

/** Nights in the store's tables. */
export interface NightRows {
  /** Once; a second call gives what stands. */
  begin(night: Pick<NightRow, 'id' | 'schedule' | 'due'> & { readonly workflow: string }): Promise<NightRow>;
  read(id: string): Promise<NightRow | null>;
  /** Fields of the body are put over those that stand. The first end stands: nothing changes the state of a night that has one. */
  set(
    id: string,
    change: { readonly state?: NightState; readonly batch?: string; readonly why?: string; readonly body?: NightBody; readonly ended?: Date },
  ): Promise<void>;
  /** The newest first. */
  of(schedule: string, limit: number): Promise<readonly NightRow[]>;
  /** Those that have begun and not ended, of all schedules. */
  running(): Promise<readonly NightRow[]>;
  /** Notes a night that never began, unless one of about this time is known. Whether it was noted now. */
  missed(night: Pick<NightRow, 'id' | 'schedule' | 'due'>, why: string, withinMs: number): Promise<boolean>;
  /** Takes all accounts for a night, or none: then who has one of them. */
  lock(
    accounts: readonly string[],
    holder: { readonly night: string; readonly workflow: string },
  ): Promise<{ readonly night: string; readonly workflow: string } | null>;
  unlock(night: string): Promise<void>;
}

const NIGHT = 'id, schedule, due, workflow, began, ended, state, batch, why, body';
/** Of advisory locks. */
const LOCK = 'trialbed night locks';

export function nightRows(database: Database): NightRows {
  const read = async (id: string) => (await database.query<NightRow>(`select ${NIGHT} from trialbed.nights where id = $1`, [id]))[0] ?? null;
  return {
    async begin({ id, schedule, due, workflow }) {
      await database.query(
        `insert into trialbed.nights (id, schedule, due, workflow, began, state) values ($1, $2, $3, $4, now(), 'running') on conflict (id) do nothing`,
        [id, schedule, due, workflow],
      );
      const row = await read(id);
      if (!row) throw new Error(`night ${id} was stored and cannot be found`);
      return row;
    },
    read,
    async set(id, { state, batch, why, body, ended }) {
      await database.query(
        `update trialbed.nights set state = case when state = 'running' then coalesce($2, state) else state end, batch = coalesce($3, batch), why = coalesce($4, why),
           body = (body::jsonb || coalesce($5::jsonb, '{}'))::json, ended = coalesce(ended, $6) where id = $1`,
        [id, state ?? null, batch ?? null, why ?? null, body === undefined ? null : JSON.stringify(body), ended ?? null],
      );
    },
    of: (schedule, limit) => database.query<NightRow>(`select ${NIGHT} from trialbed.nights where schedule = $1 order by due desc limit $2`, [schedule, limit]),
    running: () => database.query<NightRow>(`select ${NIGHT} from trialbed.nights where state = 'running' order by due limit 1000`),
    async missed({ id, schedule, due }, why, withinMs) {
      const rows = await database.query(
        `insert into trialbed.nights (id, schedule, due, state, ended, why) select $1, $2, $3::timestamptz, 'missed', now(), $4
          where not exists (select 1 from trialbed.nights where schedule = $2 and abs(extract(epoch from due - $3::timestamptz)) * 1000 <= $5)
         on conflict do nothing returning id`,
        [id, schedule, due, why, withinMs],
      );
      return rows.length > 0;
    },
    lock: (accounts, { night, workflow }) =>
      database.transaction(async (sql) => {
        await sql.query('select pg_advisory_xact_lock(hashtext($1))', [LOCK]);
        const [held] = await sql.query<{ night: string; workflow: string }>(
          'select night, workflow from trialbed.night_locks where account = any($1) and night <> $2 order by account limit 1',
          [accounts, night],
        );
        if (held) return held;
        for (const account of accounts)
          await sql.query('insert into trialbed.night_locks (account, night, workflow) values ($1, $2, $3) on conflict do nothing', [account, night, workflow]);
        return null;
      }),
    async unlock(night) {
      await database.query('delete from trialbed.night_locks where night = $1', [night]);
    },
  };
}
