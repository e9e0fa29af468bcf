import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { supervisorStatus } from '../../src/infra/supervisor-client.ts';
import { commandPlace, jsonLines } from './cli-process.ts';

test('init in an empty folder, then run and validate there, with services that the command starts and stops itself', async () => {
  await using place = await commandPlace(null);
  expect((await place.run('init')).code).toBe(0);

  const ran = await place.run('run', './suite', '--json');
  expect(ran.stderr).not.toContain('error');
  expect(jsonLines(ran.stdout).map((line) => [line.type, line['agent'], line['pass']])).toEqual([
    ['trial', expect.any(String), 'pass'],
    ['trial', expect.any(String), 'pass'],
    ['summary', undefined, undefined],
  ]);
  expect(ran.code).toBe(0);
  expect(await supervisorStatus(join(place.cwd, '.trialbed'))).toBeNull();

  const valid = await place.run('validate', './suite');
  expect(valid.stdout).toContain('the suite is valid');
  expect(valid.code).toBe(0);

  expect((await place.run('schema', '--out', 'schemas')).code).toBe(0);
  for (const [file, schema] of [
    ['suite/suite.yaml', 'suite'],
    ['suite/cases/smallest-free-room.yaml', 'case'],
    ['suite/agents/planner.yaml', 'agent'],
  ] as const) {
    const hint = /\$schema=(\S+)/.exec(await readFile(join(place.cwd, file), 'utf8'))?.[1] ?? '';
    const named = join(place.cwd, file, '..', hint);
    expect(named).toBe(join(place.cwd, 'schemas', `${schema}.schema.json`));
    expect(JSON.parse(await readFile(named, 'utf8'))).toHaveProperty('$schema');
  }

  // As its README says: another request, and the planner's own answer is no longer right.
  const kase = join(place.cwd, 'suite', 'cases', 'smallest-free-room.yaml');
  await writeFile(kase, (await readFile(kase, 'utf8')).replace('for 6 people', 'for 16 people'));
  const edited = await place.run('run', './suite', '--agent', 'planner', '--json');
  expect(edited.code).toBe(1);
  expect(jsonLines(edited.stdout)[0]).toMatchObject({ agent: 'planner', pass: 'fail' });
}, 180_000);

test('up keeps the services for later commands, until down', async () => {
  await using place = await commandPlace(null);
  const up = await place.run('up', '--json');
  expect(up.code).toBe(0);
  expect(JSON.parse(up.stdout)).toMatchObject({ type: 'up', temporal: { namespace: 'default' } });
  expect(up.stdout).not.toMatch(/password|:[^/]*@/);
  const worker = place.start('worker');
  await worker.said('worker ready');
  worker.process.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  expect((await place.run('ps')).stdout).toContain('no batches yet');
  expect(await supervisorStatus(join(place.cwd, '.trialbed'))).toMatchObject({ pinned: true, users: [] });
  expect(JSON.parse((await place.run('down', '--json')).stdout)).toMatchObject({ result: 'stopped' });
  expect(await supervisorStatus(join(place.cwd, '.trialbed'))).toBeNull();
}, 180_000);
