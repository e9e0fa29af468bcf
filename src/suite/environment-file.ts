import { resolve } from 'node:path';
import { builtInPack, codeFile, kindOf, packIn } from './places.ts';

/** The pack's file of an environment by the name of a built-in one, or by a path from the working folder; null where there is none. */
export async function environmentFile(nameOrPath: string): Promise<string | null> {
  const path = resolve(nameOrPath);
  return (await builtInPack(nameOrPath)) ?? ((await kindOf(path)) === 'folder' ? packIn(path) : codeFile(path));
}
