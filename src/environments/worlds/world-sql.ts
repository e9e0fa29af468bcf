import pg from 'pg';
import type { JsonObject } from '../../domain/json.ts';
import type { WorldSql } from '../define.ts';

const { builtins } = pg.types;

/** Types whose default form in JavaScript is exact and plain. Everything else comes as the server's text. */
const AS_PARSED = new Set<number>([builtins.BOOL, builtins.INT2, builtins.INT4, builtins.OID, builtins.FLOAT4, builtins.FLOAT8, builtins.JSON, builtins.JSONB]);

/** Array types by the type of their elements. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  [1000, builtins.BOOL],
  [1005, builtins.INT2],
  [1007, builtins.INT4],
  [1016, builtins.INT8],
  [1021, builtins.FLOAT4],
  [1022, builtins.FLOAT8],
  [1231, builtins.NUMERIC],
  [1009, builtins.TEXT],
  [1015, builtins.VARCHAR],
  [1182, builtins.DATE],
  [1115, builtins.TIMESTAMP],
  [1185, builtins.TIMESTAMPTZ],
  [2951, builtins.UUID],
  [199, builtins.JSON],
  [3807, builtins.JSONB],
]);

// The library's parser of text arrays, here with the parser of our own for the elements.
const parseTextArray = pg.types.getTypeParser(1009 as number, 'text') as unknown as (text: string) => unknown;

const scalar = (oid: number): ((text: string) => unknown) => {
  if (oid === builtins.TIMESTAMPTZ) return (text) => isoTime(text, true);
  if (oid === builtins.TIMESTAMP) return (text) => isoTime(text, false);
  if (AS_PARSED.has(oid)) return pg.types.getTypeParser(oid, 'text') as unknown as (text: string) => unknown;
  return (text) => text;
};

const each = (value: unknown, parse: (text: string) => unknown): unknown =>
  Array.isArray(value) ? value.map((element) => each(element, parse)) : typeof value === 'string' ? parse(value) : value;

/** How tools see values: numeric and bigint as text, times as ISO 8601 (those with a zone in UTC, `2026-03-02T08:30:00Z`), dates as `2026-03-02`, JSON parsed. */
const worldTypes = {
  getTypeParser: (oid: number) => {
    const element = ARRAYS.get(oid);
    return element === undefined ? scalar(oid) : (text: string) => each(parseTextArray(text), scalar(element));
  },
} as unknown as pg.CustomTypesConfig;

/** A world's SQL over one connection. Always one statement at a time, so that no value can smuggle in a second. `onError` sees what failed. */
export function worldSql(client: pg.ClientBase, onError: (error: unknown) => void): WorldSql {
  return {
    async query<Row extends JsonObject = JsonObject>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      try {
        const config = { text, values: values.map(parameter), types: worldTypes, queryMode: 'extended' };
        const result = await client.query(config);
        return result.rows as Row[];
      } catch (error) {
        onError(error);
        throw error;
      }
    },
  };
}

/** Objects are JSON. Arrays stay arrays of PostgreSQL. */
function parameter(value: unknown): unknown {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date) && !Buffer.isBuffer(value)
    ? JSON.stringify(value)
    : value;
}

/** `2026-03-02 08:30:00.5+00` of a session in UTC, as ISO 8601. `infinity` and years before Christ stay as the server prints them. */
function isoTime(text: string, zoned: boolean): string {
  const match = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d(?::?\d\d)?)?$/.exec(text);
  if (!match) return text;
  const zone = match[3] ?? '';
  return `${match[1]}T${match[2]}${zoned ? (zone === '+00' || zone === '' ? 'Z' : zone.length === 3 ? `${zone}:00` : zone) : ''}`;
}
