import type { JsonObject } from '../domain/json.ts';
import type { Database } from './database.ts';

/** What a world has at a real service. */
export interface LiveSpaceRow {
  /** The world's id and epoch. */
  readonly world: string;
  /** The contract that the service fulfils, such as `tickets`. */
  readonly service: string;
  readonly binding: JsonObject;
  readonly owner: string;
  /** How-manieth try to make it, from 1. */
  readonly try: number;
  readonly name: string;
  readonly actsFor: string;
  readonly shiftMs: number;
  readonly until: Date;
  readonly state: 'making' | 'ready' | 'fenced';
  readonly kept: JsonObject;
}

export interface LiveRequestRow {
  readonly number: number;
  readonly operation: string;
  readonly attempt: number;
  readonly sent: JsonObject;
  readonly answered: JsonObject | null;
}

/** Spaces of worlds at real services, and what was sent there. Methods on a space that is gone do nothing. */
export interface LiveSpaceRows {
  /**
   * Notes a space before it is made, under `nameOf` the how-manieth try it is. One that is ready is given as it is; of one that was left halfway the next try begins, and
   * `left` is the name of the one before.
   */
  begin(
    space: Omit<LiveSpaceRow, 'try' | 'name' | 'state' | 'kept'>,
    nameOf: (tries: number) => string,
  ): Promise<{ readonly row: LiveSpaceRow; readonly left: string | null }>;
  ready(world: string, service: string, kept: JsonObject): Promise<void>;
  fenced(world: string): Promise<void>;
  of(world: string): Promise<readonly LiveSpaceRow[]>;
  /** Those whose time is over, or whose world is one of these, by id; the oldest first, at most 200. */
  over(now: Date, worlds: readonly string[]): Promise<readonly LiveSpaceRow[]>;
  drop(world: string, service: string): Promise<void>;
  sent(world: string, service: string, request: Pick<LiveRequestRow, 'operation' | 'attempt' | 'sent'>): Promise<number>;
  answered(number: number, answer: JsonObject): Promise<void>;
  /** In order of sending. */
  requests(world: string, service: string): Promise<readonly LiveRequestRow[]>;
}

const SPACE = 'world, service, binding, owner, try, name, acts_for as "actsFor", shift_ms::float8 as "shiftMs", until, state, kept';

/** {@link LiveSpaceRows} in the store's tables. */
export function liveSpaceRows(database: Database): LiveSpaceRows {
  return {
    begin: ({ world, service, binding, owner, actsFor, shiftMs, until }, nameOf) =>
      database.transaction(async (sql) => {
        await sql.query('select pg_advisory_xact_lock(hashtext($1))', [`live space ${world} ${service}`]);
        const [found] = await sql.query<LiveSpaceRow>(`select ${SPACE} from trialbed.live_spaces where world = $1 and service = $2`, [world, service]);
        if (found && found.state !== 'making') return { row: found, left: null };
        const tries = (found?.try ?? 0) + 1;
        const [row] = await sql.query<LiveSpaceRow>(
          `insert into trialbed.live_spaces (world, service, binding, owner, try, name, acts_for, shift_ms, until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (world, service) do update set try = excluded.try, name = excluded.name, shift_ms = excluded.shift_ms, until = excluded.until
           returning ${SPACE}`,
          [world, service, JSON.stringify(binding), owner, tries, nameOf(tries), actsFor, Math.round(shiftMs), until],
        );
        if (!row) throw new Error('an insert returned no row');
        return { row, left: found?.name ?? null };
      }),
    async ready(world, service, kept) {
      await database.query("update trialbed.live_spaces set state = 'ready', kept = $3 where world = $1 and service = $2 and state = 'making'", [
        world,
        service,
        JSON.stringify(kept),
      ]);
    },
    async fenced(world) {
      await database.query("update trialbed.live_spaces set state = 'fenced' where world = $1", [world]);
    },
    of: (world) => database.query<LiveSpaceRow>(`select ${SPACE} from trialbed.live_spaces where world = $1 order by service`, [world]),
    over: (now, worlds) =>
      database.query<LiveSpaceRow>(
        `select ${SPACE} from trialbed.live_spaces where until < $1 or split_part(world, '.', 1) = any ($2) order by until limit 200`,
        [now, worlds],
      ),
    async drop(world, service) {
      await database.query('delete from trialbed.live_spaces where world = $1 and service = $2', [world, service]);
    },
    async sent(world, service, { operation, attempt, sent }) {
      const [row] = await database.query<{ number: number }>(
        'insert into trialbed.live_requests (world, service, operation, attempt, sent) values ($1, $2, $3, $4, $5) returning number::float8 as number',
        [world, service, operation, attempt, JSON.stringify(sent)],
      );
      if (!row) throw new Error('an insert returned no row');
      return row.number;
    },
    async answered(number, answer) {
      await database.query('update trialbed.live_requests set answered = $2 where number = $1', [number, JSON.stringify(answer)]);
    },
    requests: (world, service) =>
      database.query<LiveRequestRow>(
        `select number::float8 as number, operation, attempt, sent, answered from trialbed.live_requests
          where world = $1 and service = $2 order by number`,
        [world, service],
      ),
  };
}
