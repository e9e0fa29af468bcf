import type { Effect } from '../effect.ts';
import type { JsonObject } from '../json.ts';
import type { TableFacts } from '../record.ts';
import { quote } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import { columnText } from './equal.ts';
import { factsOf, scaleOf, type Tables, textOf } from './net.ts';
import { describeEffect, mailSignature } from './slots.ts';

/**
 * What a journal made of the state in which it began: rows that are there now and were not, rows that were there and are not, mails. Rows that came back
 * leave nothing. Two journals that began in one state end in one state exactly when their differences are equal, however they got there.
 */
export type EndState = ReadonlyMap<string, { readonly count: number; readonly title: string }>;

/** The end state of a journal, rows compared as their tables declare it. */
export function endState(effects: readonly Effect[], tables: Tables): EndState {
  const state = new Map<string, { count: number; title: string }>();
  const add = (signature: string, by: number, title: () => string): void => {
    const known = state.get(signature);
    const count = (known?.count ?? 0) + by;
    if (count === 0) state.delete(signature);
    else state.set(signature, { count, title: known?.title ?? title() });
  };
  for (const effect of effects) {
    if (effect.kind === 'mail') {
      if (effect.accepted) add(mailSignature(effect), 1, () => describeEffect(effect));
      continue;
    }
    const { table, before, after } = effect;
    if (before !== null) add(rowSignature(table, before, tables), -1, () => `${table} ${quote(before)}`);
    if (after !== null) add(rowSignature(table, after, tables), 1, () => `${table} ${quote(after)}`);
  }
  return state;
}

/** How two end states differ, a sentence for each row or mail; empty when they are the same. */
export function endStateDifferences(found: EndState, expected: EndState): string[] {
  return [...new Set([...found.keys(), ...expected.keys()])].flatMap((signature) => {
    const [here, there] = [found.get(signature), expected.get(signature)];
    const more = (here?.count ?? 0) - (there?.count ?? 0);
    if (more === 0) return [];
    const title = here?.title ?? there?.title ?? '';
    return `${more > 0 ? 'is there and should not be' : 'is not there and should be'}: ${title}${Math.abs(more) > 1 ? ` (${Math.abs(more)} times)` : ''}`;
  });
}

/** The same tables, letter case counted. */
export function withLetterCase(tables: Tables): Tables {
  const counted = Object.entries(tables).map(([name, facts]): [string, TableFacts] => [
    name,
    facts.text === undefined ? facts : { ...facts, text: Object.fromEntries(Object.keys(facts.text).map((column) => [column, 'exact'])) },
  ]);
  return Object.fromEntries(counted);
}

function rowSignature(table: string, row: JsonObject, tables: Tables): string {
  const facts = factsOf(tables, table);
  const counted = Object.entries(row).filter(([column]) => !facts.ignored.includes(column));
  return canonicalText([
    table,
    Object.fromEntries(counted.map(([column, value]) => [column, columnText(value, scaleOf(facts, column), textOf(facts, column))])),
  ]);
}
