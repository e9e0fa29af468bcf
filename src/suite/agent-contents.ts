import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { sha256 } from './identity.ts';
import { codeFile, isFile } from './places.ts';

/** Path from the agent's folder, with `/`, to the sha256 of the file's content. */
export type AgentContents = { readonly [path: string]: string };

const MAX_FILES = 5_000;
const MAX_BYTES = 128 * 1024 * 1024;

/**
 * What an agent's behaviour can depend on: every file of its folder, since it may read prompts and data as well as import code, and the files
 * outside it that its JavaScript or TypeScript imports by a relative path, directly or through others. Hidden files, `node_modules` and what Python compiles
 * are left out, and so is what is computed at run time. Null when there is more of it than an agent has.
 */
export async function agentContents(root: string): Promise<AgentContents | null> {
  const todo = await filesOf(root);
  if (todo === null) return null;
  const hashes = new Map<string, string>();
  let bytes = 0;
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    const name = relative(root, path).split(sep).join('/');
    if (hashes.has(name)) continue;
    bytes += (await stat(path)).size;
    if (hashes.size >= MAX_FILES || bytes > MAX_BYTES) return null;
    const content = await readFile(path);
    hashes.set(name, sha256(content));
    if (/\.[cm]?[jt]sx?$/.test(path)) todo.push(...(await importsOf(path, content.toString('utf8'))));
  }
  return Object.fromEntries(hashes);
}

/** Other people's code, and what running an agent leaves behind. */
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);

/** Files below a folder; links to folders are not followed. */
async function filesOf(folder: string): Promise<string[] | null> {
  const found: string[] = [];
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (await isFile(path)) found.push(path);
      if (found.length + folders.length > MAX_FILES) return null;
    }
  }
  return found;
}

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*|\bnew\s+URL\s*\(\s*)(['"])(\.\.?\/[^'"\n]+)\1/g;

/** Files that a source names by a relative path in an import, a `require` or a `new URL`. */
async function importsOf(path: string, source: string): Promise<string[]> {
  const named = [...source.matchAll(SPECIFIER)].map((match) => resolve(dirname(path), match[2] ?? ''));
  const files = await Promise.all(named.map((file) => codeFile(file)));
  return files.filter((file) => file !== null);
}
