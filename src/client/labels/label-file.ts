import { readFile } from 'node:fs/promises';
import { isRaterName } from '../../domain/judging.ts';
import type { Json } from '../../domain/json.ts';
import { isObject } from '../../domain/text/bounded.ts';
import { nearestName } from '../../domain/text/nearest.ts';
import { type FileProblem, SuiteFileError } from '../../suite/suite.ts';
import { MOST_NOTE } from './labelling.ts';

/** A label as a line of a file says it. */
export interface WrittenLabel {
  readonly line: number;
  /** Names the trial: as `label --json` told it to this person, or the trial itself. */
  readonly what: { readonly item: string } | { readonly trial: string };
  readonly category: string;
  readonly note: string | null;
  /** Null: whoever the command says. */
  readonly rater: string | null;
}

const MEMBERS = ['item', 'trial', 'category', 'note', 'rater'] as const;
type Member = (typeof MEMBERS)[number];
const MOST_BYTES = 32 * 1024 * 1024;

/** Reads labels from a file with one JSON object a line. Empty lines count and say nothing. @throws {SuiteFileError} that lists every problem, with its line and column */
export async function readLabelFile(file: string, scale: readonly string[]): Promise<readonly WrittenLabel[]> {
  const problems: FileProblem[] = [];
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : `it cannot be read: ${error.message}`;
    throw new SuiteFileError([
      { file, line: null, column: null, message: `${why}; expected one label a line, such as {"item":"...","category":"..."}`, suggestion: null },
    ]);
  });
  if (text.length > MOST_BYTES) throw new SuiteFileError([{ file, line: null, column: null, message: 'it is larger than 32 MB', suggestion: null }]);
  const labels: WrittenLabel[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n/);
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const label = labelOf(line, at + 1, scale, (column, message, suggestion = null) => problems.push({ file, line: at + 1, column, message, suggestion }));
    if (label !== null) labels.push(label);
  }
  if (labels.length === 0 && problems.length === 0) problems.push({ file, line: 1, column: 1, message: 'the file holds no label', suggestion: null });
  if (problems.length > 0) throw new SuiteFileError(problems);
  return labels;
}

/** A problem at a place of a file that has been read. */
export function labelProblem(file: string, { line }: Pick<WrittenLabel, 'line'>, message: string): FileProblem {
  return { file, line, column: 1, message, suggestion: null };
}

type Tell = (column: number, message: string, suggestion?: string | null) => void;

/** Null: a problem was told. */
function labelOf(text: string, line: number, scale: readonly string[], tell: Tell): WrittenLabel | null {
  let told = false;
  const say: Tell = (...problem) => {
    told = true;
    tell(...problem);
  };
  const value = parsed(text, say);
  if (value === undefined) return null;
  if (!isObject(value)) {
    say(1, 'expected an object, such as {"item":"...","category":"..."}');
    return null;
  }
  for (const name of Object.keys(value)) {
    if (!MEMBERS.some((one) => one === name))
      say(columnOf(text, name, 'name'), `unknown member ${JSON.stringify(name)}; known: ${MEMBERS.join(', ')}`, nearestName(name, MEMBERS));
  }
  const textOf = (name: Member): string | null => {
    const member = value[name];
    if (member === undefined || member === null) return null;
    if (typeof member === 'string') return member;
    say(columnOf(text, name), `${name}: expected a text`);
    return null;
  };
  const [item, trial, category, note, rater] = MEMBERS.map(textOf);
  if (told) return null;
  if ((item === null) === (trial === null))
    say(1, item === null ? 'expected "item" or "trial", which names what is labelled' : 'expected "item" or "trial", and not both');
  if (category == null) say(1, `expected "category", one of ${scale.join(', ')}`);
  else if (!scale.includes(category)) say(columnOf(text, 'category'), `category: expected one of ${scale.join(', ')}`, nearestName(category, scale));
  if (note != null && note.length > MOST_NOTE) say(columnOf(text, 'note'), `note: expected at most ${MOST_NOTE} characters`);
  if (rater != null && !isRaterName(rater))
    say(columnOf(text, 'rater'), 'rater: expected 1 to 100 letters, digits, spaces, "_", "." and "-", and no mail address');
  if (told || category == null) return null;
  return { line, what: item != null ? { item } : { trial: trial ?? '' }, category, note: note ?? null, rater: rater ?? null };
}

/** Undefined: it is no JSON, and a problem was told. */
function parsed(text: string, say: Tell): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
    say(position === undefined ? text.trimEnd().length + 1 : Number(position) + 1, 'this is no JSON; expected one object a line');
    return undefined;
  }
}

/** Column of a member's value, or of its name. */
function columnOf(text: string, name: string, what: 'name' | 'value' = 'value'): number {
  const written = JSON.stringify(name);
  const match = new RegExp(`${written.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*:\\s*`).exec(text);
  if (match === null) return 1;
  return match.index + 1 + (what === 'value' ? match[0].length : 0);
}
