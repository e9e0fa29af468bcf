import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { skipTitle } from '../harness/requirements.ts';
import { olderNode, ROOT } from './package-place.ts';

const older = olderNode();

/** Says its process id, and what ends it. */
const MAIN = `
export async function main() {
  process.on('SIGINT', () => { process.stdout.write('SIGINT\\n'); process.exit(130); });
  process.stdout.write(process.pid + '\\n');
  setInterval(() => {}, 1000);
}`;

test.skipIf(!older.met)(skipTitle('the command that an older Node started stops as on Ctrl-C when that one is killed', older), async () => {
  const place = await mkdtemp(join(tmpdir(), 'trialbed-launcher-'));
  for (const folder of ['bin', 'dist/cli', 'node_modules']) await mkdir(join(place, folder), { recursive: true });
  await writeFile(join(place, 'package.json'), '{ "type": "module" }');
  await writeFile(join(place, 'dist/cli/main.js'), MAIN);
  await copyFile(join(ROOT, 'bin/trialbed.js'), join(place, 'bin/trialbed.js'));
  await symlink(join(ROOT, 'node_modules/node'), join(place, 'node_modules/node'));
  const launcher = spawn(older.file, [join(place, 'bin/trialbed.js')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: launcher.stdout })[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  expect(pid).not.toBe(launcher.pid);
  try {
    launcher.kill('SIGKILL');
    expect((await lines.next()).value).toBe('SIGINT');
    // The pipe ends with the last process that holds it.
    expect((await lines.next()).done).toBe(true);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
});
