import { setTimeout as pause } from 'node:timers/promises';
import type { PreviewRows } from '../../domain/approval.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { TableFacts } from '../../domain/record.ts';
import { type PreviewQuery, ToolFailure, type WorldSql } from '../define.ts';
import { sqlState } from '../hosts/connection.ts';
import { FencedError, type World, type WorldClock, type WorldCredentials, WorldGoneError, type WorldRef, type WorldSnapshot } from '../world.ts';
import { inTransaction, withDatabase } from '../hosts/connection.ts';
import type { Access } from './access.ts';
import type { Tables } from './catalogue.ts';
import { unexplainedDifference } from './difference.ts';
import { endSessions } from './evict.ts';
import { LeasedFaults } from './faults.ts';
import type { Fingerprint } from './fingerprint.ts';
import { closeWorld } from './fence.ts';
import { tableRows } from './inspect.ts';
import { isoUtc, readEffects } from './journal.ts';
import { inSys } from './layout.ts';
import { WorldLedger } from './ledger.ts';
import { PreviewBusyError } from './errors.ts';
import { HeldByOthersError, holdStill, readPreview } from './preview.ts';
import type { WorldRow } from './registry.ts';
import { takeSnapshot } from './snapshot.ts';
import { type Attempt, claim, enter, isLost, meaning, toolTransaction } from './transact.ts';

/** How long an approved call tries to hold the tables of its preview still, and the pause between two tries. */
const BUSY_MS = 30_000;
const BUSY_PAUSE_MS = 50;

/** What a leased world needs of its host. */
export interface WorldParts {
  readonly access: Access;
  /** Server that holds the world. */
  readonly adminUrl: string;
  /** The registry's row while this lease still stands, else null. */
  readonly current: () => Promise<WorldRow | null>;
  /** What a world of its generation is before anything happened in it; null where that is not known. */
  readonly expected: () => Promise<Fingerprint | null>;
  readonly release: (reuse: boolean) => Promise<'pooled' | 'dropped'>;
  readonly failpoint: (name: string) => void;
  /** Milliseconds of a steady clock, for durations. */
  readonly now: () => number;
}

/** One lease of a world. */
export class LeasedWorld implements World {
  readonly ref: WorldRef;
  readonly ledger: WorldLedger;
  readonly faults: LeasedFaults;
  private readonly row: WorldRow;
  private readonly parts: WorldParts;

  constructor(ref: WorldRef, row: WorldRow, parts: WorldParts) {
    this.ref = ref;
    this.row = row;
    this.parts = parts;
    this.ledger = new WorldLedger(parts.access, row);
    this.faults = new LeasedFaults(row, parts.access);
  }

  get columns(): World['columns'] {
    return Object.fromEntries(Object.entries(this.row.tables).map(([name, table]) => [name, table.columns.map((column) => column.name)]));
  }

  async transact<T>(
    operation: Attempt,
    work: (sql: WorldSql) => Promise<{ readonly value: T; readonly result: Json }>,
    bound?: Parameters<World['transact']>[2],
  ): Promise<T> {
    const startedAt = this.parts.now();
    for (;;) {
      try {
        return await this.transactOnce(operation, work, bound);
      } catch (error) {
        // Nothing was done yet: it let go of what it held, so that whoever waits for that can go on.
        if (!(error instanceof HeldByOthersError)) throw error;
        if (this.parts.now() - startedAt > BUSY_MS) throw new PreviewBusyError({ cause: error });
        await pause(BUSY_PAUSE_MS);
      }
    }
  }

  async preview(queries: readonly PreviewQuery[]): Promise<readonly PreviewRows[]> {
    if (queries.length === 0) return [];
    const { access } = this.parts;
    const { layout, epoch, tables } = this.row;
    return toolTransaction(access.tools, { layout, epoch, operation: null, begin: enter(layout, null, epoch, false) }, (sql) =>
      readPreview(sql, tables, queries),
    );
  }

  private async transactOnce<T>(
    operation: Attempt,
    work: (sql: WorldSql) => Promise<{ readonly value: T; readonly result: Json }>,
    bound: Parameters<World['transact']>[2],
  ): Promise<T> {
    const { access, failpoint, now } = this.parts;
    const { layout, epoch } = this.row;
    const startedAt = now();
    let result: Json = null;
    let ended = false;
    try {
      const value = await toolTransaction(
        access.tools,
        {
          layout,
          epoch,
          operation,
          begin: claim(layout, operation, epoch),
          ...(bound && { hold: (client) => holdStill(client, this.row.tables, bound.queries) }),
          end: (client) =>
            client.query(`SELECT ${inSys(layout, 'complete')}($1, $2, $3, $4)`, [
              operation.id,
              operation.attempt,
              JSON.stringify(result ?? null),
              now() - startedAt,
            ]),
          beforeCommit: () => failpoint('effects_written_before_commit'),
          lost: (commitSent) => {
            ended = !commitSent;
          },
        },
        async (sql) => {
          if (bound) bound.check(await readPreview(sql, this.row.tables, bound.queries));
          const done = await work(sql);
          result = done.result;
          return done.value;
        },
      );
      failpoint('effects_committed_before_reply');
      return value;
    } catch (error) {
      if (error instanceof ToolFailure) {
        const problem = {
          code: error.code,
          message: error.message,
          ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
        };
        await this.ledger.settle(operation.id, operation.attempt, { state: 'failed', problem, durationMs: now() - startedAt });
        throw error;
      }
      throw ended && (await this.givenUp(operation))
        ? await this.late(operation, `its session was ended with attempt ${operation.attempt}`)
        : await this.refusal(error, operation);
    }
  }

  async serve(operation: Attempt): Promise<boolean> {
    const { layout, epoch } = this.row;
    try {
      return await inTransaction(this.parts.access.admin, async (client) => {
        const opening = claim(layout, operation, epoch);
        await client.query(`SELECT ${opening.sql}`, [...opening.values]);
        const { rowCount } = await client.query(
          `UPDATE ${inSys(layout, 'serving')} SET operation = $1, attempt = $2 WHERE operation IS NULL OR (operation = $1 AND attempt < $2)`,
          [operation.id, operation.attempt],
        );
        if (rowCount !== 1) return false;
        // What a server still does for the attempt that was lost must not become this one's.
        if (operation.attempt > 1 && layout.serverRole !== undefined) await endSessions(this.parts.access.control, layout.serverRole, { busy: true });
        return true;
      });
    } catch (error) {
      throw await this.refusal(meaning(error, operation), operation);
    }
  }

  async served({ id, attempt }: Attempt): Promise<void> {
    await this.parts.access.admin.query(
      `UPDATE ${inSys(this.row.layout, 'serving')} SET operation = NULL, attempt = NULL WHERE operation = $1 AND attempt = $2`,
      [id, attempt],
    );
  }

  async loseServing({ id, attempt }: Attempt): Promise<boolean> {
    const { layout } = this.row;
    return inTransaction(this.parts.access.admin, async (client) => {
      // Held until the sessions are gone: whoever is served next begins after that.
      const { rowCount } = await client.query(`SELECT 1 FROM ${inSys(layout, 'serving')} WHERE operation = $1 AND attempt = $2 FOR UPDATE`, [id, attempt]);
      if (rowCount !== 1) return false;
      if (layout.serverRole !== undefined) await endSessions(this.parts.access.control, layout.serverRole, { busy: true });
      return true;
    });
  }

  async clock(): Promise<WorldClock> {
    const { rows } = await this.parts.access.admin.query<{ now: string; timezone: string }>(
      `SELECT ${isoUtc('now')} AS now, timezone FROM ${inSys(this.row.layout, 'clock')}`,
    );
    const row = rows[0];
    if (!row) throw new WorldGoneError(this.ref.id);
    return { now: new Date(row.now), timezone: row.timezone };
  }

  async credentials(): Promise<WorldCredentials> {
    const { layout } = this.row;
    const agentSecret = this.row.agent_secret ?? '';
    const serverSecret = this.row.server_secret ?? '';
    return {
      user: this.row.id,
      toolSecret: this.row.tool_secret ?? '',
      agentSecret,
      // Only the role of a world with a database of its own may log in.
      sqlUrl: layout.direct ? withDatabase(this.parts.adminUrl, layout.database, { user: layout.role, password: agentSecret }) : null,
      server: layout.serverRole === undefined ? null : { secret: serverSecret, sqlUrl: this.serverUrl(layout.serverRole, serverSecret) },
    };
  }

  async fence(options: { readonly drainMs: number }): Promise<{ readonly epoch: number }> {
    await this.requireLease();
    return { epoch: await closeWorld(this.parts.access, this.row.layout, this.row.epoch, options.drainMs, this.parts.failpoint) };
  }

  async observe(): ReturnType<World['observe']> {
    await this.requireLease();
    const { admin } = this.parts.access;
    const effects = await readEffects(admin, this.row.layout);
    const late = await admin.query<{ source: 'sql' | 'smtp' | 'tickets' | 'door'; operation: string | null; detail: string; at: string }>(
      `SELECT source, operation, detail, ${isoUtc('at')} AS at FROM ${inSys(this.row.layout, 'late')} ORDER BY n`,
    );
    return { effects, lateAttempts: late.rows, tables: factsOf(this.row.tables) };
  }

  async unexplained(): Promise<readonly string[] | null> {
    await this.requireLease();
    return unexplainedDifference(this.parts.access.admin, this.row, await this.parts.expected());
  }

  async snapshot(): Promise<WorldSnapshot> {
    await this.requireLease();
    return takeSnapshot(this.parts.access.admin, this.row, await this.ledger.all());
  }

  async rows(table: string): Promise<readonly JsonObject[]> {
    await this.requireLease();
    return tableRows(this.parts.access, this.row, table);
  }

  async release(options: { readonly reuse?: boolean } = {}): Promise<'pooled' | 'dropped'> {
    return this.parts.release(options.reuse ?? true);
  }

  private serverUrl(user: string, password: string): string {
    return withDatabase(this.parts.adminUrl, this.row.layout.database, { user, password });
  }

  private async requireLease(): Promise<void> {
    if (!(await this.parts.current())) throw new WorldGoneError(this.ref.id);
  }

  /**
   * A write that the fence refused, or whose session the fence ended before it committed, is a late attempt. A connection that was lost for another
   * reason leaves the outcome open, and so does one that was lost while it committed: `recover` tells.
   */
  private async refusal(error: unknown, operation: Attempt): Promise<unknown> {
    if (error instanceof FencedError) {
      await this.ledger.late({ source: 'sql', operation: operation.id, detail: error.message });
      return error;
    }
    if (!isLost(error)) return error;
    const row = await this.parts.current();
    if (!row) return new WorldGoneError(this.ref.id);
    const stands = await this.ledger.read(operation.id);
    const { layout } = this.row;
    const { rows } = await this.parts.access.admin.query<{ closed: boolean; closing: boolean }>(
      `SELECT closed, closing FROM ${inSys(layout, 'fence')}, ${inSys(layout, 'door')}`,
    );
    // The fence ends whoever holds on, one after another, before it closes: a session that the server says it ended meanwhile was one of those.
    const ended = rows[0]?.closed || (rows[0]?.closing && sqlState(error)?.startsWith('57P'));
    if (!ended || stands?.state === 'committed') return error;
    // Not in the ledger: since the fence waits for whoever commits, it did not.
    return this.late(operation, 'its session held on at the fence and was ended');
  }

  /** Whether this attempt of the operation was fenced, so that another could take its place. Waits for whoever is just fencing it. */
  private async givenUp({ id, attempt }: Attempt): Promise<boolean> {
    const { rows } = await this.parts.access.admin.query<{ fenced: number }>(
      `SELECT fenced FROM ${inSys(this.row.layout, 'attempts')} WHERE operation = $1 FOR SHARE`,
      [id],
    );
    return (rows[0]?.fenced ?? 0) >= attempt;
  }

  private async late(operation: Attempt, what: string): Promise<FencedError> {
    await this.ledger.late({ source: 'sql', operation: operation.id, detail: `${what}; nothing of it was committed` });
    return new FencedError('the world');
  }
}

/** What grading needs of the tables. */
function factsOf(tables: Tables): { readonly [table: string]: TableFacts } {
  return Object.fromEntries(
    Object.values(tables).map((table) => [
      table.name,
      {
        key: table.key.length > 0 ? table.key : table.columns.map((column) => column.name),
        ignored: table.ignored,
        scale: table.scale,
        ...(table.text && { text: table.text }),
      },
    ]),
  );
}
