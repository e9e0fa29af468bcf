import type { RowEffect } from '../../domain/effect.ts';
import type { JsonObject } from '../../domain/json.ts';
import { canonicalText } from '../../domain/text/canonical.ts';
import type { TraceRow, TraceRowState } from './trace.ts';

/** A change of a row, and the step in which it was made. */
export interface PlacedChange {
  readonly step: number;
  readonly change: RowEffect;
}

/** What each row went through, in the order of first changes. A row whose key changes stays the same row; one that is made anew where another was deleted does too. */
export function rowsOf(changes: readonly PlacedChange[]): TraceRow[] {
  const rows: { table: string; key: JsonObject; before: JsonObject | null; states: TraceRowState[] }[] = [];
  const byName = new Map<string, (typeof rows)[number]>();
  for (const { step, change } of [...changes].sort((a, b) => a.change.seq - b.change.seq)) {
    const from = nameOf(change, change.before);
    const row = byName.get(from) ?? { table: change.table, key: change.key, before: change.before, states: [] };
    if (row.states.length === 0) rows.push(row);
    row.states.push({ step, row: change.after, outside: change.byFault !== undefined || change.operation === null });
    byName.delete(from);
    byName.set(nameOf(change, change.after), row);
  }
  return rows;
}

/** A row as it was when a step had ended; undefined: nobody had touched it. */
export function stateAfter(row: TraceRow, step: number): TraceRowState | undefined {
  return row.states.findLast((state) => state.step <= step);
}

/** Columns whose values differ, those of rows that are made or deleted all; in the order of the row. */
export function changedColumns(before: JsonObject | null, after: JsonObject | null): string[] {
  const columns = Object.keys({ ...before, ...after });
  if (before === null || after === null) return columns;
  return columns.filter((column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]));
}

function nameOf({ table, key }: RowEffect, image: JsonObject | null): string {
  const names = Object.entries(key).map(([column, value]) => [column, image !== null && Object.hasOwn(image, column) ? image[column] : value] as const);
  return canonicalText([table, Object.fromEntries(names) as JsonObject]);
}
