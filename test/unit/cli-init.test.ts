import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { initProject } from '../../src/init/init.ts';
import { TestHost } from './cli-support.ts';

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'init-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test('init writes every file of the template, and a second init nothing', async () => {
  const dir = await folder();
  const host = new TestHost({ cwd: dir });
  expect(await runCommandLine(['init', 'mine', '--json'], host)).toBe(0);
  const template = await readdir(fileURLToPath(new URL('../../src/init/template/', import.meta.url)), { recursive: true, withFileTypes: true });
  const made = await readdir(join(dir, 'mine'), { recursive: true, withFileTypes: true });
  expect(made.filter((f) => f.isFile()).length).toBe(template.filter((f) => f.isFile()).length);
  expect(JSON.parse(host.stdout)).toMatchObject({
    type: 'init',
    dir: join(dir, 'mine'),
    written: expect.arrayContaining(['environment/pack.ts', '.gitignore']),
  });

  const again = new TestHost({ cwd: dir });
  expect(await runCommandLine(['init', 'mine'], again)).toBe(2);
  expect(again.stderr).toContain('nothing was written');
});

test('one file in the way is enough to write nothing; a package.json may stay', async () => {
  const dir = await folder();
  await mkdir(join(dir, 'suite'));
  await writeFile(join(dir, 'suite', 'suite.yaml'), 'mine');
  await expect(initProject(dir)).rejects.toMatchObject({ code: 'init_conflict', files: ['suite/suite.yaml'] });
  expect(await readdir(dir)).toEqual(['suite']);
  await rm(join(dir, 'suite'), { recursive: true });

  await writeFile(join(dir, 'package.json'), '{"name":"mine"}');
  const result = await initProject(dir);
  expect(result.kept).toEqual(['package.json']);
  expect(await readFile(join(dir, 'package.json'), 'utf8')).toBe('{"name":"mine"}');
});

test('a file in the place of the folder is told as such', async () => {
  const dir = await folder();
  await writeFile(join(dir, 'mine'), '');
  const host = new TestHost({ cwd: dir });
  expect(await runCommandLine(['init', 'mine'], host)).toBe(2);
  expect(host.stderr).toContain('cannot be used as a folder');
});
