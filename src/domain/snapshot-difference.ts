import type { Effect } from './effect.ts';
import { canonicalText } from './text/canonical.ts';
import { changedColumns, type NetEffect, netEffects, sameRow, type Tables } from './grading/net.ts';
import { mailSignature } from './grading/slots.ts';
import type { JsonObject } from './json.ts';

/** What one world has that the other has not. */
export type SnapshotDifference =
  | {
      readonly kind: 'row';
      readonly table: string;
      readonly key: JsonObject;
      /** The row in the first and in the second; null: it is not there. */
      readonly first: JsonObject | null;
      readonly second: JsonObject | null;
      /** Columns in which they differ; empty where one of them is not there. */
      readonly columns: readonly string[];
    }
  | {
      readonly kind: 'mail';
      /** Which of them has it, or has more of it. */
      readonly in: 'first' | 'second';
      readonly times: number;
      readonly to: readonly string[];
      readonly subject: string;
    };

/**
 * How two worlds that began in one state differ at their ends: rows as their tables declare what counts, mails by envelope, subject and text, whatever the way there was. Empty: they
 * are the same.
 */
export function snapshotDifferences(first: readonly Effect[], second: readonly Effect[], tables: Tables): readonly SnapshotDifference[] {
  const [a, b] = [netEffects(first, tables), netEffects(second, tables)];
  return [...rowDifferences(rowsOf(a), rowsOf(b), tables), ...mailDifferences(a, b)];
}

type Rows = ReadonlyMap<string, Extract<NetEffect, { kind: 'row' }>>;

function rowDifferences(a: Rows, b: Rows, tables: Tables): SnapshotDifference[] {
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => {
    const [here, there] = [a.get(name), b.get(name)];
    const row = here ?? there;
    if (row === undefined) return [];
    const { table } = row;
    // What one of them has not touched stands there as it stood before the other did.
    const first = here === undefined ? row.before : here.after;
    const second = there === undefined ? row.before : there.after;
    if (sameRow(table, first, second, tables)) return [];
    const columns = first === null || second === null ? [] : changedColumns(table, first, second, tables);
    return [{ kind: 'row' as const, table, key: row.key, first, second, columns }];
  });
}

function mailDifferences(a: readonly NetEffect[], b: readonly NetEffect[]): SnapshotDifference[] {
  const count = (effects: readonly NetEffect[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const effect of effects) if (effect.kind === 'mail') counts.set(mailSignature(effect), (counts.get(mailSignature(effect)) ?? 0) + 1);
    return counts;
  };
  const [here, there] = [count(a), count(b)];
  const mails = new Map([...b, ...a].flatMap((effect) => (effect.kind === 'mail' ? [[mailSignature(effect), effect] as const] : [])));
  return [...mails].flatMap(([signature, mail]) => {
    const more = (here.get(signature) ?? 0) - (there.get(signature) ?? 0);
    if (more === 0) return [];
    const to = mail.recipients.map(({ address }) => address);
    return [{ kind: 'mail' as const, in: more > 0 ? ('first' as const) : ('second' as const), times: Math.abs(more), to, subject: mail.subject }];
  });
}

function rowsOf(effects: readonly NetEffect[]): Rows {
  // By where the row ends, or where it was: so the same row has one name in both.
  return new Map(effects.flatMap((effect) => (effect.kind === 'row' ? [[canonicalText([effect.table, effect.key]), effect] as const] : [])));
}
