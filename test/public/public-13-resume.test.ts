import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { commandPlace, jsonLines } from '../integration/cli-process.ts';
import { run } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import type { BatchHandle } from '../../src/client/api.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { type Bench, module, startBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

async function trialsOf(handle: BatchHandle): Promise<TrialSummary[]> {
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  return trials;
}

describe('public-13: a batch that is resumed', () => {
  it.each([
    [20, 19],
    [6, 1],
  ])(
    'public-13: of %i trials, %i done: resumed twice, it has each trial once, and the second time nothing is done',
    { timeout: 180_000 },
    async (count, done) => {
      const { root } = bench.testbed;
      const gate = join(bench.folder, `gate-${count}`);
      // Its first `done` trials end; the next one, alone, is under way for as long as the gate is shut.
      const suite = await bench.write({
        agent: module('counts.ts', { folder: bench.folder, name: `n${count}`, done, gate }),
        kase: { budget: { wall: '5m' } },
      });
      const request = { ...suite, trials: count, concurrency: 1, keep: 'never' } as const;
      const first = await run(root, request, new Promise(() => {}));
      const before: TrialSummary[] = [];
      for await (const event of first.events()) {
        if (event.type !== 'trial') continue;
        before.push(event);
        if (before.length === done) break;
      }
      await first.interrupt();
      const rows = await root.store.trials(first.id);
      expect(rows.filter(({ phase }) => phase === 'done')).toHaveLength(done);
      expect((await root.store.batch(first.id))?.state).toBe('interrupted');

      const second = await run(root, request, new Promise(() => {}));
      expect(second).toMatchObject({ id: first.id, resumed: true });
      // Not before: the trial that is under way could end, and with it the batch, before anybody resumes it.
      await writeFile(gate, '');
      const resumed = await trialsOf(second);
      const summary = await second.result();
      expect(summary).toMatchObject({ trials: count, passed: count, failed: 0, infraErrors: 0, gate: 'met', worlds: { leaked: 0 } });
      // What was done is not done again, and stays as it was.
      expect([...before, ...resumed].map(({ trial }) => trial).sort()).toEqual(rows.map(({ id }) => id).sort());
      for (const { trial, ...rest } of before) expect((await root.store.trial(trial))?.summary).toEqual({ trial, ...rest });

      const batch = await root.store.batch(first.id);
      if (!batch) throw new Error('the batch is gone');
      const attempts = async () =>
        Promise.all(rows.map(async ({ id }) => ({ id, tried: await root.store.attempts(id), verdicts: (await root.store.verdicts(id)).length })));
      const settled = await attempts();
      const third = startBatch(root, batch, true, new Promise(() => {}));
      await expect(third.result()).rejects.toMatchObject({ code: 'store_conflict' });
      expect(await attempts()).toEqual(settled);
      for (const { tried } of settled) expect(tried.filter(({ counts }) => counts)).toHaveLength(1);
    },
  );

  it('public-13: by its command after Ctrl-C, counts 20 of 20 once; an attempt that was lost is kept and does not count', { timeout: 240_000 }, async () => {
    await using place = await commandPlace(inject('services'));
    const command = ['run', 'support-desk', '--json', '--case', 'price-question', '--agent', 'careful', '--trials', '20', '--concurrency', '2', '--no-gate'];
    const running = place.start(...command);
    await running.lines(5);
    running.process.kill('SIGINT');
    const stopped = await running.ended;
    expect(stopped.code).toBe(130);
    const before = jsonLines(stopped.stdout);
    const after = jsonLines((await place.run(...command)).stdout);
    expect(after.at(-1)).toMatchObject({ type: 'summary', batch: before[0]?.['batch'], trials: 20, infraErrors: 0 });
    const ids = after.slice(0, -1).map((line) => line['trial']);
    expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
    for (const line of before) expect(after).toContainEqual(line);
    const again = after.find((line) => Number(line['attempt']) > 1);
    if (!again) return;
    const { attempts } = JSON.parse((await place.run('show', String(again['trial']), '--json')).stdout) as { attempts: { counts: boolean; ending: string }[] };
    expect(attempts.filter(({ counts }) => counts).map(({ ending }) => ending)).toEqual(['completed']);
    expect(attempts.at(-1)?.counts).toBe(true);
  });
});
