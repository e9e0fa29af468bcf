import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import type { Environment, FileSource, Seed } from '../define.ts';
import { shownPath } from '../shown-path.ts';
import type { LoadedEnvironment } from '../world.ts';
import { WorldBuildError } from './errors.ts';

/** A pack's schema and seed as read from its files. */
export interface Blueprint {
  readonly schema: readonly SqlText[];
  readonly seed: readonly (SqlText | SeedRows)[];
  /** A dump, DDL that names schemas or extensions of its own, or a tool server: its worlds are databases, whatever isolation is asked for. */
  readonly needsDatabase: boolean;
  /** Made by pg_dump: names are qualified, `search_path` is empty meanwhile. */
  readonly isDump: boolean;
}

export interface SqlText {
  /** As messages name it. */
  readonly file: string;
  readonly sql: string;
}

export interface SeedRows {
  /** As messages name it. */
  readonly file: string;
  readonly table: string;
  readonly rows: readonly { readonly [column: string]: unknown }[];
  /** Line of the file on which each row ends; absent where that is not known. */
  readonly lines?: readonly number[];
  /** Values are text as a file has it; those of JSON columns have to be parsed. */
  readonly textual: boolean;
  /** The file is one object of rows, whose member names fill `column`; `names` are those of `rows`, in the same order. */
  readonly keyed?: { readonly column: string; readonly names: readonly string[]; readonly text: string };
}

const blueprints = new WeakMap<LoadedEnvironment, Promise<Blueprint>>();

/** Reads a pack's files once for each loaded environment. @throws {WorldBuildError} for a file that is missing or malformed. */
export function blueprintOf(environment: LoadedEnvironment): Promise<Blueprint> {
  let found = blueprints.get(environment);
  if (!found) {
    found = readBlueprint(environment.environment);
    found.catch(() => blueprints.delete(environment));
    blueprints.set(environment, found);
  }
  return found;
}

async function readBlueprint(environment: Environment): Promise<Blueprint> {
  const schema = await Promise.all(environment.schema.map(readSql));
  const seed = await Promise.all(environment.seed.map(readSeed));
  const isDump = schema.some((text) => /^SELECT pg_catalog\.set_config\('search_path', '', false\);/m.test(text.sql));
  // A tool server logs in by itself.
  const needsDatabase =
    environment.toolServer !== undefined || isDump || schema.some((text) => /\bcreate\s+(schema|extension)\b/i.test(withoutComments(text.sql)));
  return { schema: isDump ? schema.map(fromDump) : schema, seed, needsDatabase, isDump };
}

async function readSql(source: FileSource): Promise<SqlText> {
  return { file: nameOf(source), sql: await readText(source) };
}

async function readSeed(seed: Seed): Promise<SqlText | SeedRows> {
  if ('sql' in seed) return readSql(seed.sql);
  if ('csv' in seed) return { file: nameOf(seed.csv), table: seed.table, ...parseCsv(nameOf(seed.csv), await readText(seed.csv), seed), textual: true };
  const file = nameOf(seed.json);
  const text = await readText(seed.json);
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = /\(line (\d+) column \d+\)/.exec(message)?.[1];
    throw new WorldBuildError(`seed ${file}${line === undefined ? '' : `:${line}`}: not JSON: ${message}`, { cause: error });
  }
  if (seed.key !== undefined) return keyedRows(file, seed.table, seed.key, rows, text);
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new WorldBuildError(`seed ${file} must hold an array of objects`);
  return { file, table: seed.table, rows, textual: false };
}

function keyedRows(file: string, table: string, column: string, parsed: unknown, text: string): SeedRows {
  if (!isRow(parsed)) throw new WorldBuildError(`seed ${file} must hold one object of rows, since ${column} is named as their key`);
  const names = Object.keys(parsed);
  const rows = names.map((name) => {
    const row = parsed[name];
    if (!isRow(row)) throw new WorldBuildError(`seed ${file}, member ${name} must be an object`);
    if (Object.hasOwn(row, column) && String(row[column]) !== name) {
      throw new WorldBuildError(`seed ${file}, member ${name}: its ${column} is ${JSON.stringify(row[column])}, and must be as the member's name`);
    }
    return row;
  });
  return { file, table, rows, textual: false, keyed: { column, names, text } };
}

function isRow(value: unknown): value is { readonly [column: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An empty cell is null unless it is quoted, or the seed says `nulls: 'never'`. With `header`, the file has no header line of its own. */
function parseCsv(file: string, text: string, seed: Extract<Seed, { csv: FileSource }>): Required<Pick<SeedRows, 'rows' | 'lines'>> {
  const emptyIsNull = seed.nulls !== 'never';
  const rename = (header: string) => seed.columns?.[header] ?? header;
  try {
    const records = parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      columns: seed.header ? seed.header.map(rename) : (header: string[]) => header.map(rename),
      cast: (value, context) => (context.header || value !== '' || context.quoting || !emptyIsNull ? value : null),
    }) as unknown as readonly { readonly record: Record<string, unknown>; readonly info: { readonly lines: number } }[];
    return { rows: records.map(({ record }) => record), lines: records.map(({ info }) => info.lines) };
  } catch (error) {
    const line: unknown = (error as { lines?: unknown }).lines;
    throw new WorldBuildError(`seed ${file}${typeof line === 'number' ? `:${line}` : ''}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * Leaves out what only psql understands (lines that begin with a backslash), and ownership of `public`. Data in the dump is refused: it would need psql,
 * and a seed file says better what it is.
 */
function fromDump(text: SqlText): SqlText {
  if (/^COPY .* FROM stdin;$/m.test(text.sql)) {
    throw new WorldBuildError(
      `schema ${text.file} is a dump with data; make it with pg_dump --schema-only --no-owner --no-privileges and name the data as seed`,
    );
  }
  return { file: text.file, sql: text.sql.replace(/^\\.*$/gm, '') };
}

function withoutComments(sql: string): string {
  return sql.replace(/--[^\n]*/g, '').replace(/\/\*[\s\S]*?\*\//g, '');
}

async function readText(source: FileSource): Promise<string> {
  try {
    return await readFile(source, 'utf8');
  } catch (error) {
    throw new WorldBuildError(`cannot read ${nameOf(source)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function nameOf(source: FileSource): string {
  return shownPath(source instanceof URL ? fileURLToPath(source) : source);
}
