import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { until } from '../chaos/until.ts';
import { type Bench, expecting, module, script, startBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

let count = 0;
async function place(): Promise<string> {
  const folder = join(bench.folder, `late-${++count}`);
  await mkdir(folder);
  return folder;
}

describe('public-07: a tool whose attempt outlives its time and goes on', () => {
  it.each([
    ['late_entry', 'entries'],
    ['late_charge', 'charges'],
    ['late_ticket', 'tickets'],
    ['late_mail', null],
  ])('public-07: %s: its late write is refused and listed, the next attempt writes, one effect, disturbed', async (tool, table) => {
    const folder = await place();
    const { trial, record } = await bench.play({
      agent: script([
        // What writes in a transaction is given some seconds to commit before its session is ended.
        { call: tool, with: { folder, ms: tool === 'late_charge' ? 9_000 : 3_000 } },
        { call: 'await_file', with: { file: join(folder, 'wrote') } },
      ]),
      kase: expecting(table === null ? { mail: ['late@example.org'] } : { row: table, change: 'insert' }),
    });
    expect(record.operations[0]).toMatchObject({ told: 'committed', known: 'committed', disturbed: true });
    expect(record.effects.filter((effect) => effect.kind === 'row' || effect.accepted)).toHaveLength(1);
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1, disturbed: true });
    expect(record.lateAttempts.filter(({ operation }) => operation === 'op-1')).toHaveLength(1);
  });

  it('public-07: nothing is written once grading has begun', async () => {
    await Promise.all(
      ['deaf_entry', 'deaf_mail', 'deaf_ticket'].map(async (tool) => {
        const folder = await place();
        const { trial, record } = await bench.play({
          agent: module('leaves-call.ts', { tool, args: { folder }, began: join(folder, 'began') }),
        });
        expect(record.operations).toMatchObject([{ tool, told: 'unknown', known: 'failed', problem: { code: 'cut_off' } }]);
        expect(record.effects).toEqual([]);
        expect(trial).toMatchObject({ ending: 'agent_error', effects: 'pass', attempt: 1 });
        await writeFile(join(folder, 'go'), '');
        await until('the late attempt has ended', async () => existsSync(join(folder, 'wrote')));
        expect(await bench.stored(trial)).toMatchObject({ record: { effects: [] } });
        expect(await bench.testbed.root.worlds.leased(`${trial.batch}-`)).toBe(0);
      }),
    );
    // Worlds that were given back are as they were made: the next trial finds nothing in them.
    const { trial } = await bench.play({ agent: script([]) });
    expect(trial.pass).toBe('pass');
  }, 120_000);
});
