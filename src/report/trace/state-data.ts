import type { JsonObject } from '../../domain/json.ts';
import { plainText } from '../plain-text.ts';
import type { Room } from './room.ts';
import type { Trace, TraceRow } from './trace.ts';

/** What the page's script shows rows from, as they were after any step. Values are texts that are safe to show. */
export interface StateData {
  readonly focus: number;
  readonly rows: readonly {
    /** Table and key. */
    readonly name: string;
    readonly before: Image | null;
    /** Step, the row then (null: deleted), whether somebody else did it. `partial`: only what differs from the state before. */
    readonly states: readonly (readonly [step: number, row: Image | null, outside: 0 | 1, partial: 0 | 1])[];
  }[];
  /** Rows that are left out of it. */
  readonly left: number;
  /** Places of rows that are shown together. */
  readonly tickets: readonly { readonly name: string; readonly rows: readonly number[] }[];
}

interface Image {
  readonly [column: string]: string | null;
}

export function stateData({ rows, tickets, focus }: Pick<Trace, 'rows' | 'tickets' | 'focus'>, room: Room): StateData {
  return {
    focus,
    rows: rows.slice(0, MOST_ROWS).map((row) => ({ name: rowText(row), before: imageOf(row.before, room), states: statesOf(row, room) })),
    left: Math.max(0, rows.length - MOST_ROWS),
    tickets: (tickets ?? []).slice(0, MOST_ROWS).map(({ key, row, comments }) => ({
      name: cut(plainText(`Ticket ${key}`), 120),
      rows: [...(row === null ? [] : [row]), ...comments].filter((place) => place < MOST_ROWS),
    })),
  };
}

/** A row as it is at the end. */
export function lastImage(before: Image | null, states: StateData['rows'][number]['states']): Image | null {
  let image = before;
  for (const [, row, , partial] of states) image = partial && image !== null && row !== null ? { ...image, ...row } : row;
  return image;
}

/** Table and key of a row, safe to show. */
export function rowText({ table, key }: Pick<TraceRow, 'table' | 'key'>): string {
  const values = Object.values(key).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return cut(plainText(`${table} ${values.join(', ')}`), 160);
}

/** One state for each step. */
function statesOf(row: TraceRow, room: Room): StateData['rows'][number]['states'] {
  const states = row.states.filter(({ step }, at) => row.states[at + 1]?.step !== step);
  // Calls at once may have changed it in another order than that in which they were accepted: then each state stands for itself.
  const inOrder = states.every(({ step }, at) => at === 0 || step > (states[at - 1]?.step ?? 0));
  return states.map(({ step, row: after, outside }, at) => {
    const before = at === 0 ? row.before : (states[at - 1]?.row ?? null);
    const partial = inOrder && before !== null && after !== null;
    return [step, imageOf(partial ? differing(before, after) : after, room), outside ? 1 : 0, partial ? 1 : 0] as const;
  });
}

function differing(before: JsonObject | null, after: JsonObject | null): JsonObject {
  return Object.fromEntries(Object.entries(after ?? {}).filter(([column, value]) => JSON.stringify(before?.[column]) !== JSON.stringify(value)));
}

function imageOf(row: JsonObject | null, { value: max }: Room): Image | null {
  if (row === null) return null;
  const columns = Object.entries(row).slice(0, MOST_COLUMNS);
  return Object.fromEntries(columns.map(([column, value]) => [cut(plainText(column), 80), value === null ? null : cut(plainText(textOf(value)), max)]));
}

function textOf(value: JsonObject[string]): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()} … and ${(text.length - max).toLocaleString('en-US')} more characters`;
}

const MOST_COLUMNS = 60;
/** Rows that the page can show as they were after any step: an agent with SQL may change them by the thousand. */
const MOST_ROWS = 2_000;
