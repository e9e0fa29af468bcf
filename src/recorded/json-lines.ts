import type { z } from 'zod';
import { quote } from '../domain/text/bounded.ts';
import { contentOf, issuesText, refuseIfAny } from './input-file.ts';

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
  if (problems.length === 0 && values.length === 0) problems.push(`${file}:1: there is no run in the file`);
  refuseIfAny(problems, 'lines');
  return values;
}

function checkLine<T>(text: string, schema: z.ZodType<T>): { readonly value: T } | { readonly problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { problem: `this is no JSON: ${quote(text.slice(0, 60))}` };
  }
  const checked = schema.safeParse(parsed);
  return checked.success ? { value: checked.data } : { problem: issuesText(checked.error) };
}
