import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openWorkerLog, workerLogFile } from '../../src/client/worker-log.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trialbed-log-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function write(text: string): Promise<void> {
  await using log = await openWorkerLog(home);
  await log.write(text);
}

test('the log of workers is made where there is none, and goes on where there is one', async () => {
  await write('one\n');
  await write('two\n');
  expect(await readFile(workerLogFile(home), 'utf8')).toBe('one\ntwo\n');
});

test('a log that has grown is put aside once, and an older one of those is dropped', async () => {
  const folder = dirname(workerLogFile(home));
  await mkdir(folder, { recursive: true });
  await writeFile(workerLogFile(home), 'a'.repeat(5 * 1024 * 1024 + 1));
  await write('second\n');
  expect((await stat(`${workerLogFile(home)}.1`)).size).toBe(5 * 1024 * 1024 + 1);
  await writeFile(workerLogFile(home), 'b'.repeat(6 * 1024 * 1024));
  await write('third\n');
  expect((await readdir(folder)).sort()).toEqual(['worker.log', 'worker.log.1']);
  expect(await readFile(workerLogFile(home), 'utf8')).toBe('third\n');
  expect((await readFile(`${workerLogFile(home)}.1`, 'utf8')).startsWith('bbb')).toBe(true);
});

test('a worker that still has the old one open loses no line and holds up nobody', async () => {
  await using old = await openWorkerLog(home);
  await old.write('x'.repeat(5 * 1024 * 1024 + 1));
  await write('new\n');
  await old.write('late\n');
  expect(await readFile(workerLogFile(home), 'utf8')).toBe('new\n');
  expect((await readFile(`${workerLogFile(home)}.1`, 'utf8')).endsWith('xlate\n')).toBe(true);
});
