import { expect, inject, it } from 'vitest';
import type { TrialRecord } from '../../src/domain/record.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const SEED = 'the same';
/** Every third of four repetitions: each case under each of its schedules once or twice, more than 200 trials together. */
const PART = { trials: 4, shard: { index: 1, of: 3 } } as const;

/** Records of all trials by case, schedule, agent and repetition, without what differs between two runs that are alike: ids of worlds, and real durations. */
async function recordsOf(testbed: Testbed, concurrency: number): Promise<ReadonlyMap<string, string>> {
  const request = { suite: 'support-desk', faults: ['all'], agents: ['reference'], seed: SEED, ...PART, keep: 'never' } as const;
  const { trials: ended } = await testbed.run({ ...request, concurrency });
  const records = new Map<string, string>();
  for (const trial of ended) {
    const name = [trial.case, trial.schedule, trial.agent, trial.repetition].join(' ');
    const record = await testbed.root.store.record(trial.trial, trial.attempt);
    const [attempt] = (await testbed.root.store.attempts(trial.trial)).filter(({ counts }) => counts);
    if (!record || !attempt?.world) throw new Error(`${name}: ${trial.ending}, ${trial.why}`);
    records.set(name, plain(record).replaceAll(attempt.world.id, 'WORLD'));
  }
  return records;
}

function plain(record: TrialRecord): string {
  return JSON.stringify(record, (name, value: unknown) => (name === 'durationMs' ? null : value), 1);
}

it('200 trials under all schedules leave the same records at concurrency 1 and at 32, byte for byte but for ids and times', async () => {
  await using testbed = await startTestbed(inject('services'));
  const alone = await recordsOf(testbed, 1);
  const together = await recordsOf(testbed, 32);
  expect(alone.size).toBeGreaterThanOrEqual(200);
  expect([...together.keys()].sort()).toEqual([...alone.keys()].sort());
  const unlike = [...alone].filter(([name, record]) => together.get(name) !== record).map(([name]) => name);
  for (const name of unlike.slice(0, 3)) expect(together.get(name), name).toBe(alone.get(name));
  expect(unlike).toEqual([]);
}, 900_000);
