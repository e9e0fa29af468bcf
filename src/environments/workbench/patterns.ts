import type { JsonObject } from '../../domain/json.ts';
import { ToolFailure, type WorldSql } from '../define.ts';

/** Failures with which a search by pattern may end. */
export const PATTERN_FAILURES = ['invalid_pattern', 'pattern_too_slow'] as const;

const LIMIT_MS = 2_000;

/**
 * A regular expression of Python as PostgreSQL reads it, for `~` and `~*`. PostgreSQL matches without exponential backtracking and can be stopped, which
 * a pattern written by an agent needs.
 *
 * The word boundaries `\b` and `\B` are translated. Differences that stay: named groups are broken patterns, `[[:alpha:]]` is a class, `.` also matches
 * a line break, letter case follows the database's collation.
 * @throws {ToolFailure} `invalid_pattern` for `***` at the start, which is a switch in PostgreSQL and an error in Python.
 */
export function toPostgresPattern(pattern: string): string {
  if (pattern.startsWith('***')) throw new ToolFailure('invalid_pattern', 'nothing to repeat at the start of the pattern. Nothing was changed.');
  let inClass = false;
  let out = '';
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern.charAt(i);
    if (char === '\\') {
      i += 1;
      const next = pattern.charAt(i);
      out += !inClass && next === 'b' ? '\\y' : !inClass && next === 'B' ? '\\Y' : char + next;
      continue;
    }
    if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    out += char;
  }
  return out;
}

/**
 * Runs a query that matches patterns, for two seconds at most.
 * @throws {ToolFailure} `invalid_pattern`, `pattern_too_slow`
 */
export async function queryByPattern<Row extends JsonObject>(db: WorldSql, sql: string, values: readonly unknown[]): Promise<Row[]> {
  const before = await db.query<{ limit: string }>(`select current_setting('statement_timeout') as "limit"`);
  await db.query(`select set_config('statement_timeout', $1, true)`, [String(LIMIT_MS)]);
  let rows: Row[];
  try {
    rows = await db.query<Row>(sql, values);
  } catch (error) {
    throw failureOf(error) ?? error;
  }
  await db.query(`select set_config('statement_timeout', $1, true)`, [before[0]?.limit ?? '0']);
  return rows;
}

function failureOf(error: unknown): ToolFailure | null {
  if (!(error instanceof Error)) return null;
  const code = (error as { code?: unknown }).code;
  if (code === '2201B') return new ToolFailure('invalid_pattern', `${error.message}. Nothing was changed.`);
  if (code === '57014') return new ToolFailure('pattern_too_slow', `The pattern took longer than ${LIMIT_MS / 1_000} s to match. Nothing was changed.`);
  return failureOf(error.cause);
}
