import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { commandPlace, jsonLines } from './cli-process.ts';

const IDENTITY = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false', '-c', 'protocol.file.allow=always'];

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...IDENTITY, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function commitAll(folder: string): string {
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'content');
  return git(folder, 'rev-parse', 'HEAD');
}

test('a batch records where suite, environment and agents stand in their histories, also when a hook of another repository runs it', {
  timeout: 180_000,
}, async () => {
  const other = { GIT_DIR: '', GIT_INDEX_FILE: '' };
  await using place = await commandPlace(inject('services'), other);
  const rooms = join(place.cwd, 'rooms');
  await place.run('init', 'rooms');
  git(place.cwd, 'init', '-q', 'agents');
  await writeFile(join(place.cwd, 'agents', 'silent.yaml'), 'kind: script\nsteps: []\nanswer: Nothing.\n');
  const agents = commitAll(join(place.cwd, 'agents'));
  await mkdir(join(place.cwd, 'hooked'));
  git(join(place.cwd, 'hooked'), 'init', '-q');
  other.GIT_DIR = join(place.cwd, 'hooked', '.git');
  other.GIT_INDEX_FILE = join(other.GIT_DIR, 'index');
  git(rooms, 'init', '-q');
  const clean = commitAll(rooms);

  const sourcesOf = async (...args: string[]) => {
    const ran = await place.run('run', 'rooms/suite', '--agent', 'planner', '--agent', 'agents/silent.yaml', '--no-gate', '--json', ...args);
    expect(ran.code, ran.stderr).toBe(0);
    const id = jsonLines(ran.stdout).at(-1)?.['batch'];
    return jsonLines((await place.run('ps', '--json')).stdout).find((batch) => batch['id'] === id)?.['sources'];
  };
  const at = (commit: string, dirty: boolean) => ({ commit, dirty });
  expect(await sourcesOf()).toEqual({
    suite: at(clean, false),
    environment: at(clean, false),
    'agent planner': at(clean, false),
    'agent silent': at(agents, false),
  });
  await appendFile(join(rooms, 'environment', 'pack.ts'), '\n// edited\n');
  await writeFile(join(place.cwd, 'agents', 'notes.txt'), '');
  expect(await sourcesOf()).toMatchObject({ suite: at(clean, false), environment: at(clean, true), 'agent silent': at(agents, true) });
});
