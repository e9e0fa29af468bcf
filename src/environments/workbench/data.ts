import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { nearestName } from '../../domain/text/nearest.ts';
import type { DataFile, Toolkit } from './toolkit.ts';

/** What keeps these parts of the world from being made of the folder; empty when nothing does. Looks at names and header lines only. */
export function dataProblems(folder: string, toolkits: readonly Toolkit[]): readonly string[] {
  if (!existsSync(folder)) return [`folder ${folder} does not exist; name the folder that holds the WorkBench CSV files`];
  return toolkits.flatMap((toolkit) => toolkit.files.flatMap((file) => fileProblems(folder, file)));
}

/** The rows of a file with a header line, by column. Empty cells are `""`. */
export function readRows(file: string): readonly { readonly [column: string]: string }[] {
  return parse<Record<string, string>>(readFileSync(file, 'utf8'), { columns: true, skip_empty_lines: true });
}

/** Columns that the file should have and does not, with the likely misspelling. */
export function columnProblems(file: string, found: readonly string[], expected: readonly string[]): readonly string[] {
  return expected
    .filter((column) => !found.includes(column))
    .map((column) => {
      const near = nearestName(column, found);
      return `${file} has no column "${column}"${near === null ? `; it has ${found.map((name) => `"${name}"`).join(', ')}` : ` (it has "${near}")`}`;
    });
}

/** Fields of the header line, or of the first line of a file without one. */
export function firstLine(file: string): readonly string[] {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(16_384);
    const line = buffer.toString('utf8', 0, readSync(handle, buffer)).split(/\r?\n/, 1)[0] ?? '';
    return parse(line, { bom: true })[0] ?? [];
  } finally {
    closeSync(handle);
  }
}

function fileProblems(folder: string, { file, columns, headless }: DataFile): readonly string[] {
  const path = join(folder, file);
  if (!existsSync(path)) return [`${path} does not exist; name the folder that holds the WorkBench CSV files`];
  const found = firstLine(path);
  if (!headless) return columnProblems(path, found, columns);
  return found.length === columns.length ? [] : [`${path} has ${found.length} fields a line; expected ${columns.length} (${columns.join(', ')})`];
}
