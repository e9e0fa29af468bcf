import type { z } from 'zod';
import { quote } from '../domain/text/bounded.ts';
import { contentOf, issuesText, refuseIfAny } from './input-file.ts';
import { RecordedRunsError } from './run.ts';

/**
 * Reads a file that is one JSON list. All of it is checked; who wants the first elements only takes them.
 * @throws {RecordedRunsError} when the file cannot be read, is no list, holds nothing, or an element is not what the schema says; names the element's index, from 0.
 */
export async function readJsonList<T>(file: string, schema: z.ZodType<T>): Promise<readonly T[]> {
  const list = parseList(file, await contentOf(file));
  if (list.length === 0) throw new RecordedRunsError([`${file}: there is no run in the file`]);
  const values: T[] = [];
  const problems: string[] = [];
  for (const [at, element] of list.entries()) {
    const checked = schema.safeParse(element);
    if (checked.success) values.push(checked.data);
    else problems.push(problemAt(file, at, issuesText(checked.error)));
  }
  refuseIfAny(problems, 'entries');
  return values;
}

/** Says where in a list something is wrong. `at`: index from 0. */
export function problemAt(file: string, at: number, problem: string): string {
  return `${file}: entry at index ${at}: ${problem}`;
}

function parseList(file: string, text: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new RecordedRunsError([`${file}: this is no JSON (${error instanceof Error ? error.message : String(error)}): ${quote(beginningOf(text))}`]);
  }
  if (Array.isArray(parsed)) return parsed;
  throw new RecordedRunsError([`${file}: expected a list of runs, found ${parsed === null ? 'null' : typeof parsed}: ${quote(beginningOf(text))}`]);
}

/** In one line. */
function beginningOf(text: string): string {
  return text.slice(0, 60).replaceAll(/\s+/gu, ' ').trim();
}
