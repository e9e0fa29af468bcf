import { readFile, stat } from 'node:fs/promises';
import { type FileProblem, SuiteFileError } from '../suite/suite.ts';
import { type Path, parseYaml, pathText } from '../suite/yaml-file.ts';

/** Largest file of traces or messages that is read, in bytes. */
export const MAX_TRACE_BYTES = 32 * 1024 * 1024;
/** A place within a larger text is told by its path alone: to find it takes too long. In UTF-16 units. */
const MAX_PLACED = 4 * 1024 * 1024;
const MAX_PROBLEMS = 20;
const MAX_DEPTH = 100;
/** How `JSON.parse` tells where a text is wrong. */
const AT = /at position (\d+)/;

/** One JSON value of a file: all of it, or a line. */
export interface JsonDocument {
  readonly file: string;
  readonly value: unknown;
  readonly text: string;
  /** Line on which it begins, from 1. */
  readonly line: number;
}

/** Reads a file that is one JSON object, or has one on each line. @throws {SuiteFileError} with file, line and column of what is no JSON. */
export async function readDocuments(file: string): Promise<readonly JsonDocument[]> {
  const text = (await readText(file)).replace(/^\uFEFF/, '');
  const first = /\S.*/.exec(text)?.[0];
  if (first === undefined) throw new SuiteFileError([{ file, line: 1, column: 1, message: 'the file is empty; expected JSON', suggestion: null }]);
  // What is whole on its first line has a value on each; a document that people can read goes on behind it.
  return parsed(first) === undefined && parsed(text) !== undefined ? [documentOf(file, text, 1)] : linesOf(file, text);
}

/** A problem at a place of a document. */
export function problemIn(document: JsonDocument, path: Path, message: string): FileProblem {
  const { file, line, text } = document;
  const told = path.length === 0 ? message : `${pathText(path)}: ${message}`;
  if (text.length > MAX_PLACED) return { file, line, column: 1, message: told, suggestion: null };
  try {
    const place = parseYaml(file, text).at(path);
    return { file, line: line + place.line - 1, column: place.column, message: told, suggestion: null };
  } catch (error) {
    if (!(error instanceof SuiteFileError)) throw error;
    return { file, line, column: 1, message: told, suggestion: null };
  }
}

/** Ends the reading of files in which something is wrong. @throws {SuiteFileError} unless there is no problem. */
export function refuseIfAny(problems: readonly FileProblem[]): void {
  if (problems.length > 0) throw new SuiteFileError(problems.slice(0, MAX_PROBLEMS));
}

function linesOf(file: string, text: string): readonly JsonDocument[] {
  const problems: FileProblem[] = [];
  const documents: JsonDocument[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || problems.length >= MAX_PROBLEMS) continue;
    try {
      documents.push(documentOf(file, line, index + 1));
    } catch (error) {
      if (!(error instanceof SuiteFileError)) throw error;
      problems.push(...error.problems);
    }
  }
  refuseIfAny(problems);
  return documents;
}

function documentOf(file: string, text: string, line: number): JsonDocument {
  const wrong = (offset: number, message: string) => {
    const before = text.slice(0, offset).split('\n');
    return new SuiteFileError([{ file, line: line + before.length - 1, column: (before.at(-1) ?? '').length + 1, message, suggestion: null }]);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(wrongAt(text, error), 'this is no JSON; expected one object, in the whole file or on each line of it');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(0, 'expected a JSON object');
  if (depthOf(value, 0) > MAX_DEPTH) throw wrong(0, `the JSON is nested deeper than ${MAX_DEPTH} levels`);
  return { file, value, text, line };
}

/** Where a text stops being JSON. `JSON.parse` does not always tell: then that is how much of the text could still become some. */
function wrongAt(text: string, error: unknown): number {
  const at = AT.exec(String(error))?.[1];
  if (at !== undefined) return Number(at);
  let [right, wrong] = [0, text.trimEnd().length];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    if (canGoOn(text.slice(0, middle))) right = middle;
    else wrong = middle;
  }
  return right;
}

function canGoOn(start: string): boolean {
  try {
    JSON.parse(start);
    return true;
  } catch (error) {
    const said = String(error);
    const at = AT.exec(said)?.[1];
    return /end of JSON|Unterminated/.test(said) || (at !== undefined && Number(at) >= start.length);
  }
}

function depthOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return depth;
  let deepest = depth;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, depth + 1));
  return deepest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(file: string): Promise<string> {
  const wrong = (message: string) => new SuiteFileError([{ file, line: null, column: null, message, suggestion: null }]);
  const found = await stat(file).catch((error: unknown) => {
    throw wrong(
      (error as { code?: unknown }).code === 'ENOENT'
        ? 'there is no such file; expected traces as OTLP JSON, or chat messages as JSON lines'
        : 'cannot be read',
    );
  });
  if (!found.isFile()) throw wrong('this is no file; expected traces as OTLP JSON, or chat messages as JSON lines');
  if (found.size > MAX_TRACE_BYTES) throw wrong(`the file has ${found.size} bytes; at most ${MAX_TRACE_BYTES} are read: split it`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch {
    throw wrong('the file is not UTF-8 text; save it as UTF-8');
  }
}
