import { readFile, stat } from 'node:fs/promises';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { JsonObject } from '../domain/json.ts';
import { type FileProblem, SuiteFileError } from './suite.ts';

/** Keys and indexes from the root of a file to a value. */
export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A YAML file as people wrote it: its value, and where each part of it stands. */
export interface YamlFile {
  readonly file: string;
  readonly data: JsonObject;
  /** Start of the value at this path, of its key where there is no value, or of the nearest thing around it that is there. */
  at(path: Path): Position;
  /** Start of the last key of the path. */
  atKey(path: Path): Position;
}

/** A file that people write by hand is smaller than this; in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_SYNTAX_PROBLEMS = 3;
/** Of the text of the file, a message about its syntax quotes no more than this, in characters. */
const MAX_QUOTED = 160;
const TOO_DEEP = `the file is nested deeper than ${MAX_DEPTH} levels`;
/** Aliases may multiply what a file says at most so often, so that a small file cannot become a huge value. */
const MAX_ALIASES = 100;

/** Reads a file of one YAML 1.2 mapping in UTF-8. @throws {SuiteFileError} that lists the first syntax problems. */
export async function readYaml(file: string): Promise<YamlFile> {
  return parseYaml(file, await readText(file));
}

/** As {@link readYaml}, from text. */
export function parseYaml(file: string, text: string): YamlFile {
  const lines = new LineCounter();
  const problemAt = (offset: number | null, message: string): FileProblem => {
    const position = offset === null ? null : lines.linePos(offset);
    return { file, line: position?.line ?? null, column: position?.col ?? null, message, suggestion: null };
  };
  const document = parseSource(file, text, lines);
  const problems = [...document.errors, ...document.warnings].map((error) => problemAt(error.pos[0], syntaxMessage(error.code, error.message)));
  const deep = problems.find((problem) => problem.message === TOO_DEEP);
  if (deep !== undefined) throw new SuiteFileError([deep]);
  // After the first of them a reader of YAML only guesses.
  if (problems.length > 0) throw new SuiteFileError(problems.slice(0, MAX_SYNTAX_PROBLEMS));
  if (document.directives.yaml.version !== '1.2')
    throw new SuiteFileError([problemAt(0, 'the file asks for another version of YAML than 1.2; remove the "%YAML" line')]);
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null))
    throw new SuiteFileError([problemAt(0, 'the file is empty; expected a mapping of keys to values')]);
  if (!isMap(root)) {
    throw new SuiteFileError([
      problemAt(root.range?.[0] ?? 0, `expected a mapping of keys to values at the top of the file, found ${isSeq(root) ? 'a list' : 'a single value'}`),
    ]);
  }
  const values = checkValues(document, root, problemAt);
  if (values.length > 0) throw new SuiteFileError(values);
  const data = toData(file, document);
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  return {
    file,
    data,
    at: (path) => position(offsetOf(document, root, path).value),
    atKey: (path) => position(offsetOf(document, root, path).key),
  };
}

async function readText(file: string): Promise<string> {
  const refuse = (message: string): SuiteFileError => new SuiteFileError([{ file, line: null, column: null, message, suggestion: null }]);
  let bytes: Buffer;
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw refuse(`the file holds ${size} bytes; a file of this kind may hold at most ${MAX_BYTES}`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof SuiteFileError) throw error;
    const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
    throw refuse(
      code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'expected a file, found a folder' : `the file cannot be read (${String(code)})`,
    );
  }
  try {
    // Takes off a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    throw refuse(`the file is not UTF-8 text${utf16 ? ' (it is UTF-16)' : ''}; save it as UTF-8`);
  }
}

function parseSource(file: string, text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, { version: '1.2', strict: true, uniqueKeys: true, prettyErrors: false, stringKeys: true, lineCounter });
  } catch (error) {
    if (error instanceof RangeError) throw new SuiteFileError([{ file, line: null, column: null, message: TOO_DEEP, suggestion: null }]);
    throw error;
  }
}

function toData(file: string, document: Document.Parsed): JsonObject {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as JsonObject;
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new SuiteFileError([
      { file, line: null, column: null, message: 'the aliases ("*name") of the file repeat too much; write out what they stand for', suggestion: null },
    ]);
  }
}

/** What YAML permits and JSON, or a reader, does not. */
function checkValues(document: Document.Parsed, root: Node, problemAt: (offset: number, message: string) => FileProblem): FileProblem[] {
  const problems: FileProblem[] = [];
  const around = new Set<unknown>();
  const visit = (node: unknown, depth: number): void => {
    if (depth > MAX_DEPTH) {
      if (problems.every((problem) => problem.message !== TOO_DEEP)) problems.push(problemAt(startOf(node) ?? 0, TOO_DEEP));
      return;
    }
    around.add(node);
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (target === undefined) problems.push(problemAt(startOf(node) ?? 0, `nothing before this is named "&${node.source}"`));
      else if (around.has(target)) problems.push(problemAt(startOf(node) ?? 0, `"*${node.source}" stands inside what it names`));
    } else if (isMap(node)) {
      for (const pair of node.items) {
        if (isScalar(pair.key)) {
          const key = String(pair.key.value);
          const offset = pair.key.range?.[0] ?? 0;
          if (key === '__proto__') problems.push(problemAt(offset, '"__proto__" cannot be a key'));
          if (key === '<<') problems.push(problemAt(offset, 'merge keys ("<<") are not part of YAML 1.2; write the keys out'));
        }
        visit(pair.value, depth + 1);
      }
    } else if (isSeq(node)) {
      for (const item of node.items) visit(item, depth + 1);
    } else if (isScalar(node)) {
      const message = scalarProblem(node.value, node.source);
      if (message !== null) problems.push(problemAt(node.range?.[0] ?? 0, message));
    }
    around.delete(node);
  };
  visit(root, 0);
  return problems;
}

function scalarProblem(value: unknown, source: string | undefined): string | null {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return `${source ?? value} is no number that JSON can hold; put it in quotes where it is a text`;
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) return `${source ?? value} is too large to be held exactly as a number; put it in quotes`;
  }
  if (typeof value === 'string' && !value.isWellFormed()) return 'the text holds half of a surrogate pair; write the whole character';
  return null;
}

function syntaxMessage(code: string, message: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key stands twice in the same mapping; remove one of the two';
    case 'TAB_AS_INDENT':
      return 'a tab stands in the indentation; indent with spaces';
    case 'MULTIPLE_DOCS':
      return 'the file holds several documents ("---"); put each into a file of its own';
    case 'TAG_RESOLVE_FAILED':
      return `${message}; tags are not used here`;
    case 'NON_STRING_KEY':
      return 'a key must be plain text';
    default:
      if (message.includes('Maximum call stack')) return TOO_DEEP;
      return `not valid YAML: ${cut(message.replaceAll(/\s+/g, ' '))}`;
  }
}

function cut(text: string): string {
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text;
}

function offsetOf(document: Document.Parsed, root: Node, path: Path): { readonly value: number; readonly key: number } {
  let node: unknown = root;
  let value = root.range?.[0] ?? 0;
  let key = value;
  for (const segment of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(segment));
      if (pair === undefined) break;
      key = startOf(pair.key) ?? key;
      // A key without a value: its place is the key's.
      value = (isScalar(pair.value) && pair.value.source === '' ? null : startOf(pair.value)) ?? key;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(segment)];
      if (item === undefined) break;
      value = startOf(item) ?? value;
      key = value;
      node = item;
    } else {
      break;
    }
  }
  return { value, key };
}

function startOf(node: unknown): number | null {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? null) : null;
}

/** What a file holds at a path, as it was written; undefined where there is nothing. */
export function valueAt({ data }: YamlFile, path: Path): unknown {
  return path.reduce<unknown>((value, segment) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    return (value as { readonly [key: string | number]: unknown })[segment];
  }, data);
}

/** `expect.outcomes[0].name` as keys and indexes. */
export function pathOf(text: string): Path {
  return [...text.matchAll(/[^.[\]]+/g)].map(([segment]) => (/^\d+$/.test(segment) ? Number(segment) : segment));
}

/** Keys and indexes as `expect.outcomes[0].name`. */
export function pathText(path: Path): string {
  return path.map((segment, index) => (typeof segment === 'number' ? `[${segment}]` : index === 0 ? segment : `.${segment}`)).join('');
}
