import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearestName } from '../domain/text/nearest.ts';
import { shownPath } from './shown-path.ts';

/** Why a file could not be imported, in a line: with the file and line at fault where Node tells them. */
export function importProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return missingModule(error) ?? `${placeOf(error)}${error.message}`;
}

/** `Cannot find module '/a/b.ts' imported from /a/pack.ts`, of which Node tells no line. */
function missingModule(error: Error): string | null {
  const [, kind, name, importer] = /^Cannot find (module|package) '([^']+)' imported from (.+)$/s.exec(error.message) ?? [];
  if (kind === undefined || name === undefined || importer === undefined) return null;
  const line = lineOf(importer, kind === 'module' ? basename(name) : name);
  const what = kind === 'module' ? `there is no file ${shownPath(name)}${suggestion(name)}` : `there is no package "${name}"; install it where this file lies`;
  return `${shownPath(importer)}${line}: ${what}`;
}

function suggestion(path: string): string {
  const folder = dirname(path);
  const near = existsSync(folder) ? nearestName(basename(path), readdirSync(folder)) : null;
  return near === null ? '' : ` (there is ${shownPath(join(folder, near))})`;
}

function lineOf(file: string, text: string): string {
  if (!existsSync(file)) return '';
  const at = readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((line) => /\b(import|from)\b/.test(line) && line.includes(text));
  return at < 0 ? '' : `:${at + 1}`;
}

/** Of a syntax error the stack begins with the place; of what was thrown, its first line outside of Node and of this package is the one to look at. */
function placeOf({ stack = '' }: Error): string {
  const head = /^((?:file:\/\/)?\/[^\n]+?):(\d+)\n/.exec(stack);
  const frames = [...stack.matchAll(/^ {4}at .*?\(?(file:\/\/[^\n)]+?):(\d+):\d+\)?$/gm)];
  const place = head ?? frames.find(([, url = '']) => url !== import.meta.url && !url.includes('/node_modules/') && !isOurLoader(url));
  const [, where, line] = place ?? [];
  return where === undefined ? '' : `${shownPath(where.startsWith('file:') ? fileURLToPath(where) : where)}:${line}: `;
}

/** Code that imports packs and defines environments, of which no line is at fault. */
function isOurLoader(url: string): boolean {
  return ['./load', './define'].some((name) => url.replace(/\.[jt]s$/, '') === new URL(name, import.meta.url).href);
}
