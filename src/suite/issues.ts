import type { z } from 'zod';
import { nearestName } from '../domain/text/nearest.ts';
import { type FileProblem, SuiteFileError } from './suite.ts';
import { type Path, pathText, type YamlFile } from './yaml-file.ts';

/** Checks a file against its schema. @throws {SuiteFileError} that lists everything that is wrong. */
export function check<S extends z.ZodType>(schema: S, source: YamlFile): z.output<S> {
  const parsed = schema.safeParse(source.data, { reportInput: true, error: knownKeysOf });
  if (parsed.success) return parsed.data;
  throw new SuiteFileError(inOrder(parsed.error.issues.flatMap((issue) => problemsOf(source, issue as Issue, []))));
}

/** What is wrong with one value of a file by a schema of its own; undefined for a value that is not there. */
export function schemaProblems(schema: z.ZodType, source: YamlFile, at: Path, value: unknown): readonly FileProblem[] {
  const parsed = schema.safeParse(value, { reportInput: true, error: knownKeysOf });
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(source, issue as Issue, at));
}

/** Problems of one file in the order of their places. */
export function inOrder(problems: readonly FileProblem[]): readonly FileProblem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** One problem at a place of a file. */
export function problemAt(source: YamlFile, path: Path, message: string, suggestion: string | null = null): FileProblem {
  const { line, column } = source.at(path);
  return { file: source.file, line, column, message: path.length === 0 ? message : `${pathText(path)}: ${message}`, suggestion };
}

/** A name that is not among those known: a value, or the last key of the path. */
export function unknownName(source: YamlFile, path: Path, what: string, name: string, known: readonly string[]): FileProblem {
  const list = known.length > 0 && known.length <= 30 ? `; known: ${known.join(', ')}` : '';
  const place = path.at(-1) === name ? source.atKey(path) : source.at(path);
  return { file: source.file, ...place, message: `${pathText(path)}: there is no ${what} "${name}"${list}`, suggestion: nearestName(name, known) };
}

type Issue = z.core.$ZodIssue & { readonly input?: unknown };

/** An issue of unknown keys carries the known ones in its message, since nothing else of the schema reaches the issue. */
function knownKeysOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const shape = (issue.inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape;
  return JSON.stringify(Object.keys(shape ?? {}));
}

function problemsOf(source: YamlFile, issue: Issue, around: Path): FileProblem[] {
  const path: Path = [...around, ...issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)))];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = JSON.parse(issue.message) as string[];
      return issue.keys.map((key) => {
        const { line, column } = source.atKey([...path, key]);
        return {
          file: source.file,
          line,
          column,
          message: `unknown key "${pathText([...path, key])}"; expected ${known.join(', ')}`,
          suggestion: nearestName(key, known),
        };
      });
    }
    case 'invalid_union':
      return unionProblems(source, issue, path);
    case 'invalid_type':
      return [problemAt(source, path, issue.input === undefined ? `is missing; expected ${nameOf(issue.expected)}` : wrongType(issue.expected, issue.input))];
    case 'invalid_value': {
      const values = issue.values.map(String);
      if (issue.input === undefined) return [problemAt(source, path, `is missing; expected ${values.join(' or ')}`)];
      return [
        problemAt(
          source,
          path,
          `expected ${values.map((value) => `"${value}"`).join(' or ')}, found ${shown(issue.input)}`,
          typeof issue.input === 'string' ? nearestName(issue.input, values) : null,
        ),
      ];
    }
    case 'too_small':
      return [problemAt(source, path, sizeMessage(issue, issue.inclusive === false ? 'more than' : 'at least', issue.minimum))];
    case 'too_big':
      return [problemAt(source, path, sizeMessage(issue, issue.inclusive === false ? 'less than' : 'at most', issue.maximum))];
    case 'custom': {
      const params = issue.params as { readonly known?: readonly string[]; readonly name?: string } | undefined;
      return [problemAt(source, path, issue.message, params?.name !== undefined ? nearestName(params.name, params.known ?? []) : null)];
    }
    default:
      return [problemAt(source, path, issue.message)];
  }
}

function unionProblems(source: YamlFile, issue: Extract<Issue, { code: 'invalid_union' }> & { readonly input?: unknown }, path: Path): FileProblem[] {
  const discriminated = issue as { readonly discriminator?: string; readonly options?: readonly unknown[] };
  if (discriminated.discriminator !== undefined) {
    const options = (discriminated.options ?? []).map(String);
    const input = (issue.input as { readonly [key: string]: unknown } | undefined)?.[discriminated.discriminator];
    if (input === undefined) return [problemAt(source, path, `is missing; expected ${options.join(', ')}`)];
    return [problemAt(source, path, `expected ${options.join(', ')}, found ${shown(input)}`, typeof input === 'string' ? nearestName(input, options) : null)];
  }
  // Of the forms that a value can have, the author meant the one that it misses least.
  const branches = issue.errors.map((errors) => errors as Issue[]);
  const best = branches.reduce((least, branch) => (weightOf(branch) < weightOf(least) ? branch : least), branches[0] ?? []);
  const ofOwnType = branches.filter((branch) => !branch.some(isTopType));
  if (ofOwnType.length === 0) {
    const expected = [...new Set(branches.flatMap((branch) => branch.filter(isTopType).map(topType)))];
    if (issue.input === undefined) return [problemAt(source, path, `is missing; expected ${expected.join(' or ')}`)];
    return [problemAt(source, path, `expected ${expected.join(' or ')}, found ${shown(issue.input)}`)];
  }
  return best.flatMap((inner) => problemsOf(source, inner, path));
}

function isTopType(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  // One of some texts is asked for, and it is no text at all.
  return issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof issue.input === 'object' && issue.input !== null);
}

function topType(issue: Issue): string {
  if (issue.code === 'invalid_type') return nameOf(issue.expected);
  return issue.code === 'invalid_value' ? issue.values.map((value) => `"${String(value)}"`).join(' or ') : '';
}

function weightOf(branch: readonly Issue[]): number {
  return branch.reduce((sum, issue) => {
    if (isTopType(issue)) return sum + 1000;
    if (issue.code === 'unrecognized_keys') return sum + 2 * issue.keys.length;
    // A key that is missing tells more about which form was not meant than a value that is wrong.
    return sum + (issue.path.length === 1 && issue.input === undefined ? 3 : 1);
  }, 0);
}

function wrongType(expected: string, input: unknown): string {
  const quotes = expected === 'string' && (typeof input === 'number' || typeof input === 'boolean') ? '; put it in quotes' : '';
  return `expected ${nameOf(expected)}, found ${shown(input)}${quotes}`;
}

function sizeMessage(issue: { readonly origin: string; readonly message: string; readonly input?: unknown }, relation: string, limit: number | bigint): string {
  // A message of our own says more.
  if (issue.message.startsWith('expected')) return issue.message;
  if (issue.origin === 'string')
    return relation === 'at least' && limit === 1 ? 'expected a text that is not empty' : `expected ${relation} ${limit} characters`;
  if (issue.origin === 'array') return `expected a list of ${relation} ${limit}`;
  return `expected ${relation} ${limit}, found ${shown(issue.input)}`;
}

function nameOf(expected: string): string {
  const names: { readonly [type: string]: string } = {
    string: 'text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    object: 'a mapping',
    record: 'a mapping',
    array: 'a list',
  };
  return names[expected] ?? expected;
}

function shown(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const written = JSON.stringify(value) ?? 'nothing';
  return written.length > 80 ? `${written.slice(0, 80)}...` : written;
}
