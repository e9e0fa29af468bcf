import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { quote } from '../domain/text/bounded.ts';
import { RecordedRunsError } from './run.ts';

/** More problems than a person reads are counted only. */
const MOST_PROBLEMS = 20;

/**
 * Reads a file with one JSON value a line. Empty lines are skipped and counted. `limit`: only so many of the first values.
 * @throws {RecordedRunsError} when the file cannot be read, holds nothing, or a line is not what the schema says; names file and line.
 */
export async function readJsonLines<T>(
  file: string,
  schema: z.ZodType<T>,
  limit: number | null,
): Promise<readonly { readonly line: number; readonly value: T }[]> {
  const values: { line: number; value: T }[] = [];
  const problems: string[] = [];
  const lines = (await contentOf(file)).split('\n');
  for (const [at, text] of lines.entries()) {
    if (limit !== null && values.length + problems.length >= limit) break;
    if (text.trim() === '') continue;
    const checked = checkLine(text, schema);
    if ('value' in checked) values.push({ line: at + 1, value: checked.value });
    else problems.push(`${file}:${at + 1}: ${checked.problem}`);
  }
  if (problems.length > MOST_PROBLEMS) problems.splice(MOST_PROBLEMS, Number.POSITIVE_INFINITY, `and ${problems.length - MOST_PROBLEMS} more lines like these`);
  if (problems.length === 0 && values.length === 0) problems.push(`${file}:1: there is no run in the file`);
  if (problems.length > 0) throw new RecordedRunsError(problems);
  return values;
}

async function contentOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === 'ENOENT') throw new RecordedRunsError([`${file} does not exist; name the file of the recorded runs`]);
    if (code === 'EISDIR') throw new RecordedRunsError([`${file} is a folder; name the file of the recorded runs in it`]);
    throw new RecordedRunsError([`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function checkLine<T>(text: string, schema: z.ZodType<T>): { readonly value: T } | { readonly problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { problem: `this is no JSON: ${quote(text.slice(0, 60))}` };
  }
  const checked = schema.safeParse(parsed);
  if (checked.success) return { value: checked.data };
  const issues = checked.error.issues.slice(0, 3).map((issue) => `${issue.path.length > 0 ? `${issue.path.map(String).join('.')}: ` : ''}${issue.message}`);
  return { problem: issues.join('; ') };
}
