import { isAbsolute, relative } from 'node:path';

/** A path as a message names it: from the working folder where it lies in there, else absolute. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : near;
}
