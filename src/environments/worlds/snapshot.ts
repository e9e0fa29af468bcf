import type pg from 'pg';
import type { LedgerRow, WorldSnapshot } from '../world.ts';
import { readSequences, type Sequences, setSequences } from './catalogue.ts';
import { RestoreError } from './errors.ts';
import { type FaultState, readFaultState, restoreFaultState } from './fault-state.ts';
import { contents } from './fingerprint.ts';
import { readEffects, readJournal, replay } from './journal.ts';
import { inSys, type Layout } from './layout.ts';
import { numbersUsed, type Past, readPast, restorePast } from './past.ts';
import type { WorldRow } from './registry.ts';

/** What a snapshot of ours has beside the contract: images whose digits a JavaScript number does not show, and what the tables must hold afterwards. */
export interface ExactSnapshot extends WorldSnapshot {
  /** The server's own JSON text of row images, where parsing it lost something such as the zeros of `25.00`. */
  readonly images: readonly { readonly seq: number; readonly before: string | null; readonly after: string | null }[];
  /** By operation: which attempt wrote it. */
  readonly attempts: readonly { readonly seq: number; readonly attempt: number }[];
  /** Absent of an earlier moment than the last, where it is not known. */
  readonly contents?: { readonly [table: string]: string };
  readonly faults: FaultState;
  /** What an earlier state is made from. Absent in snapshots of earlier versions. */
  readonly past?: Past;
}

export async function takeSnapshot(admin: pg.Pool, row: WorldRow, operations: readonly LedgerRow[]): Promise<WorldSnapshot> {
  const client = await admin.connect();
  try {
    // One moment of the world, whoever still writes.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const journal = await readJournal(client, row.layout, 'run');
    const effects = await readEffects(client, row.layout);
    const raw = await client.query<{ seq: string; raw: string; attempt: number }>(
      `SELECT seq, encode(raw, 'base64') AS raw, attempt FROM ${inSys(row.layout, 'mails')} ORDER BY seq`,
    );
    const bySeq = new Map(effects.flatMap((effect) => (effect.kind === 'row' ? [[effect.seq, effect] as const] : [])));
    const lossy = (text: string | null, value: unknown) => text !== null && JSON.stringify(value) !== text;
    const snapshot: ExactSnapshot = {
      version: 1,
      generation: row.generation,
      isolation: row.isolation,
      clock: row.lease?.clock ?? '',
      timezone: row.lease?.timezone ?? 'UTC',
      state: row.lease?.state ?? [],
      effects,
      operations,
      rawMails: raw.rows.map((mail) => ({ seq: Number(mail.seq), raw: mail.raw.replaceAll('\n', '') })),
      sequences: await readSequences(client, row.layout),
      images: journal
        .filter((entry) => lossy(entry.before, bySeq.get(entry.seq)?.before) || lossy(entry.after, bySeq.get(entry.seq)?.after))
        .map(({ seq, before, after }) => ({ seq, before, after })),
      attempts: [
        ...journal.flatMap((entry) => (entry.attempt === null ? [] : [{ seq: entry.seq, attempt: entry.attempt }])),
        ...raw.rows.map((mail) => ({ seq: Number(mail.seq), attempt: mail.attempt })),
      ],
      contents: await contents(client, row.tables),
      faults: await readFaultState(client, row.layout),
      past: await readPast(client, row.layout),
    };
    await client.query('COMMIT');
    client.release();
    return snapshot;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/**
 * Puts a snapshot's journal, rows, mails, ledger and sequences into a fresh world of the same generation and initial state. In the transaction of `client`,
 * before the lease begins.
 *
 * @throws {RestoreError} when the tables do not hold afterwards what they held when the snapshot was taken.
 */
export async function applySnapshot(client: pg.ClientBase, layout: Layout, tables: WorldRow['tables'], epoch: number, snapshot: WorldSnapshot): Promise<void> {
  const exact = snapshot as Partial<ExactSnapshot> & WorldSnapshot;
  const images = new Map((exact.images ?? []).map((image) => [image.seq, image]));
  const attempts = new Map((exact.attempts ?? []).map((entry) => [entry.seq, entry.attempt]));
  const text = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const raws = new Map(snapshot.rawMails.map((mail) => [mail.seq, mail.raw]));
  const rows = snapshot.effects.flatMap((effect) => {
    if (effect.kind !== 'row') return [];
    const image = images.get(effect.seq);
    return [{ ...effect, tbl: effect.table, before: image ? image.before : text(effect.before), after: image ? image.after : text(effect.after) }];
  });
  await replay(client, tables, rows, 'forth');
  // The initial state has used numbers too; the journal keeps one order.
  const { rows: used } = await client.query<{ n: string }>(`SELECT coalesce(max(seq), 0)::text AS n FROM ${inSys(layout, 'journal')}`);
  const base = Math.max(0, Number(used[0]?.n ?? 0) + 1 - Math.min(...snapshot.effects.map((effect) => effect.seq), Number.POSITIVE_INFINITY));
  for (const row of rows) {
    await client.query(
      `INSERT INTO ${inSys(layout, 'journal')} (seq, tbl, change, key, before, after, operation, attempt, epoch, phase, rule, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        row.seq + base,
        row.tbl,
        row.change,
        JSON.stringify(row.key),
        row.before,
        row.after,
        row.operation,
        attempts.get(row.seq) ?? null,
        epoch,
        row.byFault === undefined ? 'run' : 'fault',
        row.byFault ?? null,
        row.at,
      ],
    );
  }
  for (const effect of snapshot.effects) {
    if (effect.kind !== 'mail') continue;
    const { kind: _kind, seq, operation, at, ...mail } = effect;
    await client.query(`INSERT INTO ${inSys(layout, 'mails')} (seq, operation, attempt, mail, raw, at) VALUES ($1, $2, $3, $4, decode($5, 'base64'), $6)`, [
      seq + base,
      operation,
      attempts.get(seq) ?? 1,
      JSON.stringify(mail),
      raws.get(seq) ?? '',
      at,
    ]);
  }
  const last = `(SELECT max(seq) FROM (SELECT seq FROM ${inSys(layout, 'journal')} UNION ALL SELECT seq FROM ${inSys(layout, 'mails')}) s)`;
  await client.query(`SELECT setval('${inSys(layout, 'seq')}', greatest(1, n), n > 0) FROM (SELECT greatest(0, ${last}, $1::bigint) AS n) used`, [
    numbersUsed(exact.past, base),
  ]);
  await restoreLedger(client, layout, snapshot.operations);
  if (exact.faults) await restoreFaultState(client, layout, exact.faults, base);
  await restorePast(client, layout, exact.past ?? null, base);
  await setSequences(client, layout, snapshot.sequences as Sequences);
  if (!exact.contents) return;
  const now = await contents(client, tables);
  const unlike = Object.keys(now).filter((name) => now[name] !== exact.contents?.[name]);
  if (unlike.length > 0) throw new RestoreError(`the tables ${unlike.join(', ')} do not hold what they held when it was taken`);
}

async function restoreLedger(client: pg.ClientBase, layout: Layout, operations: readonly LedgerRow[]): Promise<void> {
  const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));
  for (const row of operations) {
    await client.query(`INSERT INTO ${inSys(layout, 'attempts')} (operation, fenced) VALUES ($1, $2)`, [row.id, row.attempt]);
    await client.query(
      `INSERT INTO ${inSys(layout, 'operations')} (id, tool, args, idempotency_key, refusal, state, attempt, result, problem, detail, duration_ms, tries, at, actor, approval, granted, recorded)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, true)`,
      [
        row.id,
        row.tool,
        JSON.stringify(row.args ?? null),
        row.idempotencyKey,
        json(row.refusal),
        row.state,
        row.attempt,
        json(row.result),
        json(row.problem),
        row.detail,
        row.durationMs,
        row.tries ?? 1,
        row.at,
        row.actor ?? null,
        json(row.approval),
        row.granted ?? null,
      ],
    );
  }
}
