import type { Json, JsonObject } from '../../domain/json.ts';
import type { LedgerRow, WorldSnapshot } from '../world.ts';
import { PointError } from './errors.ts';
import type { FaultState } from './fault-state.ts';
import type { Change, Past } from './past.ts';
import type { Positions } from './positions.ts';
import type { ExactSnapshot } from './snapshot.ts';

/** Columns by which a row of a table is found. */
const KEYS: { readonly [table: string]: readonly string[] } = {
  once: ['key'],
  faults: ['n'],
  armed: ['operation', 'rule'],
  limits: ['target'],
  freezes: ['rule'],
  stale: ['rule', 'operation'],
  counters: ['service'],
  requests: ['service', 'n'],
  clock: ['one'],
  operations: ['id'],
  attempts: ['operation'],
};

/** Operations of a snapshot after which its world can be made: 0 is the moment before the first. */
export function pointsOf(snapshot: WorldSnapshot): readonly number[] {
  return [0, ...snapshot.operations.map((_, index) => index + 1)].filter((count) => pointAt(snapshot, count).kind !== 'none');
}

/**
 * The snapshot that the world would have given when its first `count` operations had ended and the next was not yet proposed: its journal, mails and ledger up to there,
 * its sequences, clock and fault counters as they were then.
 *
 * @throws {PointError} where the world was not at rest then, or the snapshot does not know that moment
 */
export function snapshotAt(snapshot: WorldSnapshot, count: number): WorldSnapshot {
  const point = pointAt(snapshot, count);
  if (point.kind === 'none') throw new PointError(count, point.why, pointsOf(snapshot));
  if (point.kind === 'now') return snapshot;
  const { positions, past } = point;
  const exact = snapshot as ExactSnapshot;
  const end = Number(positions.journal.value) + (positions.journal.called ? 1 : 0);
  const earlier = <Row extends { readonly seq: number }>(rows: readonly Row[]) => rows.filter(({ seq }) => seq < end);
  const undone = past.changes.filter(({ n }) => n > (positions.changes ?? 0)).reverse();
  const { contents: _contents, ...rest } = exact;
  const cut: ExactSnapshot = {
    ...rest,
    effects: earlier(snapshot.effects),
    rawMails: earlier(snapshot.rawMails),
    operations: snapshot.operations.slice(0, count).map((row) => operationBefore(row, undone)),
    sequences: sequencesFrom(past, snapshot, count),
    images: earlier(exact.images),
    attempts: earlier(exact.attempts),
    faults: faultsBefore(exact.faults, undone),
    past: {
      points: past.points
        .filter(({ operation }) => snapshot.operations.slice(0, count).some(({ id }) => id === operation))
        .map((known) => ({ ...known, fenced: Number(imageBefore(undone, 'attempts', known.operation)?.['fenced'] ?? known.fenced) })),
      changes: past.changes.filter(({ n }) => n <= (positions.changes ?? 0)),
      journal: positions.journal,
    },
  };
  return cut;
}

/**
 * The same for a trial with another fault schedule: what rules of the old one had begun (limits, frozen reads, faults that were to come and those that had come) is over, since
 * its rules are not those of the new one. The clock and the number of requests that each service has had stay.
 */
export function withoutRules(snapshot: WorldSnapshot): WorldSnapshot {
  const exact = snapshot as ExactSnapshot;
  const stays = new Set(['once', 'counters', 'requests']);
  const rows = Object.fromEntries(Object.entries(exact.faults.rows).filter(([table]) => stays.has(table)));
  const past = exact.past && {
    ...exact.past,
    changes: exact.past.changes.filter(({ tbl }) => !Object.hasOwn(KEYS, tbl) || stays.has(tbl) || LASTING.has(tbl)),
  };
  const changed: ExactSnapshot = { ...exact, faults: { ...exact.faults, rows }, ...(past && { past }) };
  return changed;
}

const LASTING: ReadonlySet<string> = new Set(['clock', 'operations', 'attempts']);

const OPEN: ReadonlySet<LedgerRow['state']> = new Set(['proposed', 'running', 'awaiting_approval']);

type Point =
  | { readonly kind: 'now' }
  | { readonly kind: 'before'; readonly positions: Positions; readonly past: Past }
  | { readonly kind: 'none'; readonly why: string };

/** What is known of the moment when so many operations had ended. */
function pointAt(snapshot: WorldSnapshot, count: number): Point {
  const { past } = snapshot as Partial<ExactSnapshot>;
  const total = snapshot.operations.length;
  if (!Number.isInteger(count) || count < 0 || count > total) return { kind: 'none', why: `it has ${total} operations` };
  if (!past) return { kind: 'none', why: 'the snapshot was made by an earlier version, which kept no state of before its end' };
  if (count === total) {
    const givenUp = ({ id, attempt }: LedgerRow) => past.points.some(({ operation, fenced }) => operation === id && fenced >= Math.max(attempt, 1));
    const open = snapshot.operations.find((row) => OPEN.has(row.state) && !givenUp(row));
    return open ? { kind: 'none', why: `${open.id} (${open.tool}) has not ended` } : { kind: 'now' };
  }
  const next = snapshot.operations[count]?.id;
  const positions = past.points.find(({ operation }) => operation === next)?.positions;
  if (positions?.busy === undefined) return { kind: 'none', why: `where the world stood before ${next} is not known` };
  if (positions.busy) return { kind: 'none', why: `${next} was called before those before it had ended` };
  return { kind: 'before', positions, past };
}

/** Reads use no sequences: they stood as they do before the next operation that does not read, or at the end. */
function sequencesFrom({ points }: Past, snapshot: WorldSnapshot, count: number): WorldSnapshot['sequences'] {
  const later = snapshot.operations.slice(count).map(({ id }) => points.find(({ operation }) => operation === id)?.positions?.pack);
  return later.find((pack) => pack !== null && pack !== undefined) ?? snapshot.sequences;
}

/** What happened to an operation after its end is taken back. */
function operationBefore(row: LedgerRow, undone: readonly Change[]): LedgerRow {
  const before = imageBefore(undone, 'operations', row.id);
  if (!before) return row;
  return {
    ...row,
    state: before['state'] as LedgerRow['state'],
    attempt: before['attempt'] as number,
    granted: before['granted'] as string | null,
    result: (before['result'] ?? null) as Json,
    problem: before['problem'] as LedgerRow['problem'],
    detail: before['detail'] as string | null,
    durationMs: before['duration_ms'] as number | null,
    tries: before['tries'] as number,
  };
}

/** A row that was changed since, as it was; null: it was not. `undone`: the newest first. */
function imageBefore(undone: readonly Change[], table: 'operations' | 'attempts', operation: string): JsonObject | null {
  const column = table === 'operations' ? 'id' : 'operation';
  return undone.filter(({ tbl, after }) => tbl === table && after[column] === operation).at(-1)?.before ?? null;
}

function faultsBefore({ now, rows }: FaultState, undone: readonly Change[]): FaultState {
  const tables: { [table: string]: JsonObject[] } = Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, [...(list as JsonObject[])]]));
  let clock = now;
  for (const { tbl, before, after } of undone) {
    if (tbl === 'operations' || tbl === 'attempts') continue;
    if (tbl === 'clock') {
      clock = new Date(String(before?.['now'] ?? clock)).toISOString();
      continue;
    }
    tables[tbl] = withBefore(tables[tbl] ?? [], { key: KEYS[tbl] ?? [], before, after });
  }
  return { now: clock, rows: Object.fromEntries(Object.entries(tables).filter(([, list]) => list.length > 0)) };
}

function withBefore(
  rows: readonly JsonObject[],
  { key, before, after }: { readonly key: readonly string[]; readonly before: JsonObject | null; readonly after: JsonObject },
): JsonObject[] {
  const same = (row: JsonObject) => key.every((column) => (row[column] ?? null) === (after[column] ?? null));
  if (before === null) return rows.filter((row) => !same(row));
  // As a snapshot has its rows: what is null is left out.
  const whole = Object.fromEntries(Object.entries(before).filter(([, value]) => value !== null));
  return rows.map((row) => (same(row) ? whole : row));
}
