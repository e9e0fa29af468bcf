import type { Effect, MailEffect, RowChange, RowEffect } from '../effect.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TableFacts, TextComparison } from '../record.ts';
import { canonicalText } from '../text/canonical.ts';
import { columnText } from './equal.ts';

/** Facts about tables by name; a table without facts is compared on every column. */
export type Tables = { readonly [table: string]: TableFacts };

/** What one row went through in all: first before, last after. `operations` are all that touched it. */
export interface NetRow extends RowEffect {
  readonly operations: readonly string[];
}

/** An accepted mail. */
export interface NetMail extends MailEffect {
  readonly operations: readonly string[];
}

export type NetEffect = NetRow | NetMail;

/** A row that changed and came back. */
export interface RevertedRow {
  readonly table: string;
  readonly key: JsonObject;
  /** Every change on the way, in order. */
  readonly changes: readonly RowEffect[];
  readonly operations: readonly string[];
}

export interface NetChanges {
  /** In order of the last change. */
  readonly effects: readonly NetEffect[];
  readonly reverted: readonly RevertedRow[];
  /** Mails that the inbox refused: attempts, not effects. */
  readonly refused: readonly MailEffect[];
}

/**
 * The net effects of a journal: per row the first state before against the last state after (nothing when they are equal apart from ignored columns),
 * and every accepted mail. In order of the last change.
 */
export function netEffects(effects: readonly Effect[], tables: Tables = {}): NetEffect[] {
  return [...netChanges(effects, tables).effects];
}

/** Net effects, with what came back and what was refused. A row whose key changes stays the same row. */
export function netChanges(effects: readonly Effect[], tables: Tables = {}): NetChanges {
  const chains = new Map<string, RowEffect[]>();
  const ended: RowEffect[][] = [];
  const mails: NetMail[] = [];
  const refused: MailEffect[] = [];
  for (const effect of [...effects].sort((a, b) => a.seq - b.seq)) {
    if (effect.kind === 'mail') {
      // A copy that a fault made is no mail of the agent's.
      if (effect.byFault !== undefined) continue;
      if (effect.accepted) mails.push({ ...effect, operations: namesOf([effect]) });
      else refused.push(effect);
      continue;
    }
    const from = rowName(effect, effect.before);
    const to = rowName(effect, effect.after);
    const chain = chains.get(from) ?? [];
    chains.delete(from);
    chain.push(effect);
    const displaced = chains.get(to);
    if (displaced !== undefined) ended.push(displaced);
    chains.set(to, chain);
  }
  const net: NetEffect[] = [...mails];
  const reverted: RevertedRow[] = [];
  for (const chain of [...ended, ...chains.values()]) {
    const settled = settle(chain, tables);
    if (settled === null) continue;
    if ('changes' in settled) reverted.push(settled);
    else net.push(settled);
  }
  return { effects: net.sort((a, b) => a.seq - b.seq), reverted, refused };
}

/** Whether two images of a row are equal apart from ignored columns, numbers at their declared scale, texts as declared. */
export function sameRow(table: string, a: JsonObject | null, b: JsonObject | null, tables: Tables): boolean {
  if (a === null || b === null) return a === b;
  return changedColumns(table, a, b, tables).length === 0;
}

/** Columns that differ between two images of a row, ignored ones left out. */
export function changedColumns(table: string, before: JsonObject, after: JsonObject, tables: Tables): string[] {
  const facts = factsOf(tables, table);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.filter((name) => !facts.ignored.includes(name) && imageText(before, name, facts) !== imageText(after, name, facts));
}

/** Facts of a table; all columns count where nothing is known. */
export function factsOf(tables: Tables, table: string): TableFacts {
  return Object.hasOwn(tables, table) ? (tables[table] as TableFacts) : { key: [], ignored: [], scale: {} };
}

/** Decimal places at which a column is compared. */
export function scaleOf(facts: TableFacts, column: string): number | undefined {
  return Object.hasOwn(facts.scale, column) ? facts.scale[column] : undefined;
}

/** How texts of a column are compared; undefined where nothing is declared. */
export function textOf(facts: TableFacts, column: string): TextComparison | undefined {
  return facts.text !== undefined && Object.hasOwn(facts.text, column) ? facts.text[column] : undefined;
}

/** A column's value of a row, or undefined when the row has no such column. */
export function columnOf(row: JsonObject | null, column: string): Json | undefined {
  return row !== null && Object.hasOwn(row, column) ? row[column] : undefined;
}

function imageText(image: JsonObject, column: string, facts: TableFacts): string {
  const value = columnOf(image, column);
  return value === undefined ? '' : columnText(value, scaleOf(facts, column), textOf(facts, column));
}

function settle(chain: readonly RowEffect[], tables: Tables): NetRow | RevertedRow | null {
  const own = chain.filter((change) => change.byFault === undefined);
  const first = own[0];
  const last = own.at(-1);
  if (first === undefined || last === undefined) return null;
  const { before, after } = own.length === chain.length ? { before: first.before, after: last.after } : apartFromFaults(chain);
  if (sameRow(first.table, before, after, tables)) {
    const moved = own.filter((change) => !sameRow(change.table, change.before, change.after, tables));
    return moved.length === 0 ? null : { table: first.table, key: first.key, changes: moved, operations: namesOf(moved) };
  }
  const change: RowChange = before === null ? 'insert' : after === null ? 'delete' : 'update';
  return { ...last, change, key: after === null ? first.key : last.key, before, after, operations: namesOf(own) };
}

/**
 * What the agent alone did to a row that others changed too: what a fault of the schedule changed in it counts as if it had always been so, and a change of a fault
 * after the agent's last one is left out.
 */
function apartFromFaults(chain: readonly RowEffect[]): { readonly before: JsonObject | null; readonly after: JsonObject | null } {
  let before = chain[0]?.before ?? null;
  let after = before;
  for (const change of chain) {
    if (change.byFault === undefined) after = change.after;
    else if (change.before === null || change.after === null) before = after = change.after;
    else {
      const moved = Object.entries(change.after).filter(([column, value]) => JSON.stringify(value) !== JSON.stringify(columnOf(change.before, column)));
      before = before === null ? null : { ...before, ...Object.fromEntries(moved) };
      after = after === null ? null : { ...after, ...Object.fromEntries(moved) };
    }
  }
  return { before, after };
}

function rowName(effect: RowEffect, image: JsonObject | null): string {
  const key = Object.entries(effect.key).map(([column, value]) => [column, columnOf(image, column) ?? value] as const);
  return `${JSON.stringify(effect.table)} ${canonicalText(Object.fromEntries(key))}`;
}

function namesOf(changes: readonly Effect[]): string[] {
  return [...new Set(changes.map((change) => change.operation).filter((operation) => operation !== null))];
}
