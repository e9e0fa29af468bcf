import type { StateChange } from '../domain/case.ts';
import { unknownName } from './issues.ts';
import type { FileProblem } from './suite.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** Columns by table. */
export type KnownTables = { readonly [table: string]: readonly string[] };

/** Tables and columns in a list of changes that the environment does not have. */
export function changeProblems(source: YamlFile, at: Path, changes: readonly StateChange[], tables: KnownTables): readonly FileProblem[] {
  return changes.flatMap((change, index) => {
    const place: Path = [...at, index];
    if ('insert' in change) {
      const columns = change.rows.flatMap((row, n) => columnsAt(['rows', n], row));
      return tableProblems(source, place, 'insert', change.insert, columns, tables);
    }
    if ('update' in change)
      return tableProblems(source, place, 'update', change.update, [...columnsAt(['where'], change.where), ...columnsAt(['set'], change.set)], tables);
    return tableProblems(source, place, 'delete', change.delete, columnsAt(['where'], change.where), tables);
  });
}

/** A table, under its key, and columns at their paths from the same place. */
export function tableProblems(
  source: YamlFile,
  at: Path,
  key: string,
  table: string,
  columns: readonly (readonly [Path, string])[],
  tables: KnownTables,
): readonly FileProblem[] {
  const known = Object.hasOwn(tables, table) ? tables[table] : undefined;
  if (known === undefined) return [unknownName(source, [...at, key], 'table', table, Object.keys(tables))];
  return columns
    .filter(([, column]) => !known.includes(column))
    .map(([path, column]) => unknownName(source, [...at, ...path], `column of ${table}`, column, known));
}

/** Keys of a mapping of columns, with their paths. */
export function columnsAt(at: Path, columns: object): readonly (readonly [Path, string])[] {
  return Object.keys(columns).map((column) => [[...at, column], column] as const);
}
