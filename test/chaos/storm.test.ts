import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, test } from 'vitest';
import { FAILPOINTS } from '../../src/worker/failpoints.ts';
import { planStorm } from './storm/plan.ts';
import type { Storm } from './storm/storm.ts';

const MAIN = 'test/chaos/storm/main.ts';

it('a batch whose processes are killed while it runs comes to what it comes to undisturbed', { timeout: 400_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-storm-test-'));
  try {
    const file = join(folder, 'storm.json');
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--seed', '1', '--trials', '20', '--kills', '6', '--json', file]);
    expect(stdout).toContain('all holds');
    const storm = JSON.parse(await readFile(file, 'utf8')) as Storm;
    expect(storm.kills).toHaveLength(6);
    expect(storm.kills.filter(({ failpoint }) => failpoint !== null)).toHaveLength(2);
    expect(storm.recoveries.length).toBeGreaterThan(0);
    expect(storm).toMatchObject({ missed: [], violations: [], batches: [{ suite: 'storm', trials: 20 }] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a seed is a plan: the same one strikes at the same places, and fifty kills are enough for every failpoint', () => {
  const options = { seed: '7', trials: 500, kills: 50 };
  const plan = planStorm(options);
  expect(planStorm(options)).toEqual(plan);
  expect(planStorm({ ...options, seed: '8' })).not.toEqual(plan);
  const armed = [...plan.usual, ...plan.rare].map(({ name }) => name);
  expect(plan.strikes.length + armed.length).toBe(50);
  expect(new Set(plan.strikes.map(({ target }) => target)).size).toBe(7);
  // Containers need an engine that runs them.
  expect(armed.sort()).toEqual(
    Object.keys(FAILPOINTS)
      .filter((name) => name !== 'container_started_before_registered')
      .sort(),
  );
});

test('what is no option is refused with the usage', async () => {
  const refused = promisify(execFile)(process.execPath, [MAIN, '--kills', 'many']);
  await expect(refused).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--kills takes a whole number') });
});
