import type { LateAttempt } from '../../domain/effect.ts';
import type { Json } from '../../domain/json.ts';
import type { OperationProblem } from '../../domain/operation.ts';
import { sqlState } from '../hosts/connection.ts';
import type { Ledger, LedgerRow, Proposal, RecordedCall, WorldClock } from '../world.ts';
import { WorldGoneError } from '../world.ts';
import type { Access } from './access.ts';
import { underLock } from './evict.ts';
import { isoUtc } from './journal.ts';
import { inSys, type Layout } from './layout.ts';
import { nobodyElseSince, type Positions, positionsSql, restorePositions } from './positions.ts';
import type { WorldRow } from './registry.ts';

/** How long `recover` waits for an attempt that is just committing before it ends that session. */
const RECOVER_PATIENCE_MS = 5000;

interface StoredRow {
  readonly id: string;
  readonly tool: string;
  readonly actor: string | null;
  readonly args: Json;
  readonly idempotency_key: string | null;
  readonly refusal: Proposal['refusal'];
  readonly approval: Proposal['approval'] | null;
  readonly granted: string | null;
  readonly state: LedgerRow['state'];
  readonly attempt: number;
  readonly result: Json | null;
  readonly problem: OperationProblem | null;
  readonly detail: string | null;
  readonly duration_ms: number | null;
  readonly tries: number;
  readonly at: string;
}

const COLUMNS = `id, tool, actor, args, idempotency_key, refusal, approval, granted, state, attempt, result, problem, detail, duration_ms, tries, ${isoUtc('at')} AS at`;

/** A schema or a table that is not there. */
const GONE: ReadonlySet<string> = new Set(['3F000', '42P01']);

/** The operations of one lease of a world, in its own database. */
export class WorldLedger implements Ledger {
  private readonly access: Access;
  private readonly layout: Layout;
  private readonly worldId: string;
  private readonly epoch: number;
  private readonly positions: string;
  /** The same without the pack's sequences. */
  private readonly place: string;

  constructor(access: Access, row: Pick<WorldRow, 'id' | 'layout' | 'epoch' | 'sequences' | 'lease'>) {
    this.access = access;
    this.layout = row.layout;
    this.worldId = row.id;
    this.epoch = row.epoch;
    this.positions = positionsSql(row.layout, Object.keys(row.sequences), '$11::boolean');
    // Somebody else's hand that follows a read may use sequences as well.
    const scheduled = (row.lease?.faults ?? []).length > 0;
    this.place = scheduled ? this.positions : positionsSql(row.layout, null, '$11::boolean');
  }

  async propose(proposal: Proposal): Promise<RecordedCall | null> {
    const { rows } = await this.access.admin.query<{ recorded: RecordedCall | null }>(
      `WITH c AS (SELECT now FROM ${this.sys('clock')}, ${this.sys('fence')} WHERE epoch IN ($8, $8 + 1)),
            a AS (INSERT INTO ${this.sys('attempts')} (operation, positions) SELECT $1, ${proposal.reads ? this.place : this.positions} FROM c ON CONFLICT DO NOTHING),
            o AS (INSERT INTO ${this.sys('operations')} (id, tool, args, idempotency_key, refusal, problem, state, at, actor, approval)
                  SELECT $1, $2, $3, $4, $5, $6, $7, now, $9, $10 FROM c ON CONFLICT (id) DO NOTHING)
       SELECT (SELECT json_build_object('tool', tool, 'args', args, 'idempotencyKey', idempotency_key, 'actor', actor)
                 FROM ${this.sys('operations')} WHERE id = $1 AND recorded) AS recorded FROM c`,
      [
        proposal.id,
        proposal.tool,
        JSON.stringify(proposal.args ?? null),
        proposal.idempotencyKey,
        proposal.refusal === null ? null : JSON.stringify(proposal.refusal),
        proposal.refusal === null ? null : JSON.stringify(proposal.refusal.problem),
        proposal.refusal?.state ?? 'proposed',
        this.epoch,
        proposal.actor ?? null,
        proposal.approval === undefined ? null : JSON.stringify(proposal.approval),
        proposal.beside ?? false,
      ],
    );
    // No row of the clock: the world has been given to another owner.
    if (!rows[0]) throw new WorldGoneError(this.worldId);
    return rows[0].recorded;
  }

  async read(operationId: string): Promise<LedgerRow | null> {
    return (await this.select('WHERE id = $2 AND epoch IN ($1, $1 + 1)', [this.epoch, operationId]))[0] ?? null;
  }

  async readNow(operationId: string): Promise<{ readonly row: LedgerRow; readonly clock: WorldClock } | null> {
    const sql = `SELECT ${COLUMNS}, ${isoUtc('now')} AS now, timezone
                   FROM ${this.sys('fence')} CROSS JOIN ${this.sys('clock')} LEFT JOIN ${this.sys('operations')} ON id = $2 WHERE epoch IN ($1, $1 + 1)`;
    const { rows } = await this.access.admin.query<StoredRow & { now: string; timezone: string }>(sql, [this.epoch, operationId]).catch((error: unknown) => {
      // Dropped, with all that was in it.
      throw GONE.has(sqlState(error) ?? '') ? new WorldGoneError(this.worldId) : error;
    });
    const [row] = rows;
    // No row of the clock: the world has been given to another owner.
    if (!row) throw new WorldGoneError(this.worldId);
    return row.id === null ? null : { row: asLedgerRow(row), clock: { now: new Date(row.now), timezone: row.timezone } };
  }

  async all(): Promise<readonly LedgerRow[]> {
    return this.select('WHERE epoch IN ($1, $1 + 1) ORDER BY n', [this.epoch]);
  }

  async settle(
    operationId: string,
    attempt: number,
    end: { readonly state: 'committed' | 'failed' | 'unknown'; readonly result?: Json; readonly problem?: OperationProblem; readonly durationMs: number },
  ): Promise<void> {
    await this.access.admin.query(
      `UPDATE ${this.sys('operations')} SET state = $3, attempt = $2, result = $4, problem = $5, duration_ms = $6
        WHERE id = $1 AND state <> 'committed' AND attempt <= $2 AND EXISTS (SELECT 1 FROM ${this.sys('fence')} WHERE epoch IN ($7, $7 + 1))`,
      [
        operationId,
        attempt,
        end.state,
        end.result === undefined ? null : JSON.stringify(end.result),
        end.problem === undefined ? null : JSON.stringify(end.problem),
        end.durationMs,
        this.epoch,
      ],
    );
  }

  async awaitApproval(operationId: string): Promise<void> {
    await this.access.admin.query(
      `UPDATE ${this.sys('operations')} SET state = 'awaiting_approval' WHERE id = $1 AND state = 'proposed' AND EXISTS (SELECT 1 FROM ${this.sys('fence')} WHERE epoch IN ($2, $2 + 1))`,
      [operationId, this.epoch],
    );
  }

  async grant(operationId: string, digest: string): Promise<void> {
    await this.access.admin.query(
      `UPDATE ${this.sys('operations')} SET granted = $2 WHERE id = $1 AND granted IS NULL AND state IN ('proposed', 'awaiting_approval') AND EXISTS (SELECT 1 FROM ${this.sys('fence')} WHERE epoch IN ($3, $3 + 1))`,
      [operationId, digest, this.epoch],
    );
  }

  async deny(operationId: string, problem: OperationProblem): Promise<void> {
    await this.access.admin.query(
      `UPDATE ${this.sys('operations')} SET state = 'denied', problem = $2, granted = NULL WHERE id = $1 AND state <> 'committed' AND EXISTS (SELECT 1 FROM ${this.sys('fence')} WHERE epoch IN ($3, $3 + 1))`,
      [operationId, JSON.stringify(problem), this.epoch],
    );
  }

  async explain(operationId: string, attempt: number, detail: string): Promise<void> {
    await this.access.admin.query(
      `UPDATE ${this.sys('operations')} SET detail = $3 WHERE id = $1 AND attempt <= $2 AND EXISTS (SELECT 1 FROM ${this.sys('fence')} WHERE epoch IN ($4, $4 + 1))`,
      [operationId, attempt, detail, this.epoch],
    );
  }

  async tried(operationId: string, tries: number): Promise<void> {
    await this.access.admin.query(
      `UPDATE ${this.sys('operations')} SET tries = greatest(tries, $2) WHERE id = $1 AND EXISTS (SELECT 1 FROM ${this.sys('fence')} WHERE epoch IN ($3, $3 + 1))`,
      [operationId, tries, this.epoch],
    );
  }

  async recover(operationId: string, attempt: number): Promise<{ readonly row: LedgerRow | null; readonly effects: number }> {
    // Transactions of this operation share this row's lock: when it is ours, they have committed or are gone.
    const lock = { sql: `SELECT 1 FROM ${this.sys('attempts')} WHERE operation = $1 FOR UPDATE`, values: [operationId] };
    const effects = await underLock(this.access, RECOVER_PATIENCE_MS, lock, async (client) => {
      await client.query(`UPDATE ${this.sys('attempts')} SET fenced = greatest(fenced, $2) WHERE operation = $1`, [operationId, attempt]);
      // A worker that was lost with a tool server has not said that the call is over.
      await client.query(`UPDATE ${this.sys('serving')} SET operation = NULL, attempt = NULL WHERE operation = $1 AND attempt <= $2`, [operationId, attempt]);
      const { rows } = await client.query<{ n: number; positions: Positions | null }>(
        `SELECT (SELECT count(*) FROM ${this.sys('journal')} WHERE operation = $1 AND phase = 'run')::int
              + (SELECT count(*) FROM ${this.sys('mails')} WHERE operation = $1 AND (mail ->> 'accepted')::boolean)::int AS n,
                ${nobodyElseSince(this.layout)} AS positions`,
        [operationId],
      );
      const found = rows[0];
      // What the lost attempt took from sequences before it was rolled back is given back, so that the next one makes the rows that it would have made.
      if (found?.positions) await restorePositions(client, this.layout, found.positions);
      return found?.n ?? 0;
    });
    return { row: await this.read(operationId), effects };
  }

  async late(attempt: Omit<LateAttempt, 'at'>): Promise<void> {
    await this.access.admin.query(
      `INSERT INTO ${this.sys('late')} (source, operation, detail, at)
       SELECT $1, $2, $3, c.now FROM ${this.sys('clock')} c, ${this.sys('fence')} f WHERE f.epoch IN ($4, $4 + 1)`,
      [attempt.source, attempt.operation, attempt.detail, this.epoch],
    );
  }

  private async select(where: string, values: readonly unknown[]): Promise<LedgerRow[]> {
    const { rows } = await this.access.admin.query<StoredRow>(
      `SELECT ${COLUMNS}
         FROM ${this.sys('operations')}, ${this.sys('fence')} ${where}`,
      [...values],
    );
    return rows.map(asLedgerRow);
  }

  private sys(name: string): string {
    return inSys(this.layout, name);
  }
}

function asLedgerRow(row: StoredRow): LedgerRow {
  return {
    id: row.id,
    tool: row.tool,
    ...(row.actor !== null && { actor: row.actor }),
    args: row.args,
    idempotencyKey: row.idempotency_key,
    refusal: row.refusal,
    ...(row.approval && { approval: row.approval }),
    granted: row.granted,
    state: row.state,
    attempt: row.attempt,
    result: row.result,
    problem: row.problem,
    detail: row.detail,
    durationMs: row.duration_ms,
    tries: row.tries,
    at: row.at,
  };
}
