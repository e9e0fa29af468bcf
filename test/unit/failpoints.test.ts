import { glob, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FAILPOINTS } from '../../src/worker/failpoints.ts';

const PHASES = ['provision', 'drive', 'fence', 'grade', 'release'];

it('every failpoint of the code is in the list with its race, and the list has no other', async () => {
  const named = new Set<string>();
  for await (const file of glob('src/**/*.ts')) {
    for (const [, name = '', phase] of (await readFile(file, 'utf8')).matchAll(/failpoint\(\s*['`](\w+)(\$\{phase\})?['`]\s*\)/g)) {
      if (phase === undefined) named.add(name);
      else for (const one of PHASES) named.add(`${name}${one}`);
    }
  }
  expect([...named].sort()).toEqual(Object.keys(FAILPOINTS).sort());
});
