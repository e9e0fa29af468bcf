import { expect } from 'vitest';
import { run } from '../../src/client/run.ts';
import type { RunRequest } from '../../src/client/api.ts';
import type { Outage } from '../../src/domain/outage.ts';
import type { BatchSummary, TrialSummary } from '../../src/domain/trial.ts';
import type { Testbed } from '../harness/testbed.ts';
import { observed } from './observed.ts';

/** Eight trials of cases that write and mail, by a script and by a program, each of which passes when nothing is in its way. */
export const WRITING = {
  suite: 'support-desk',
  cases: ['cancel-before-shipping', 'refund-within-policy'],
  agents: ['reference', 'careful'],
  trials: 2,
  concurrency: 4,
} as const;

/** Runs a batch and calls `strike` once, with what settles when whoever follows the batch is told of an outage, after so many of its trials have ended, while others are on their way. */
export async function runStruck(
  testbed: Testbed,
  request: RunRequest,
  after: number,
  strike: (told: Promise<void>) => Promise<void>,
): Promise<{
  readonly batch: string;
  readonly trials: readonly TrialSummary[];
  readonly summary: BatchSummary;
  /** What whoever follows the batch is told of services that are away; null: they are back. */
  readonly outages: readonly (Outage | null)[];
}> {
  const handle = await run(testbed.root, request, new Promise(() => {}));
  const trials: TrialSummary[] = [];
  const outages: (Outage | null)[] = [];
  const told = Promise.withResolvers<void>();
  let struck: Promise<void> | null = null;
  for await (const event of handle.events()) {
    if (event.type === 'outage') {
      outages.push(event.outage);
      told.resolve();
    }
    if (event.type !== 'trial') continue;
    trials.push(event);
    // Read on meanwhile: what ends during the strike must be counted too.
    if (trials.length === after) struck = strike(told.promise);
  }
  const summary = await handle.result();
  expect(struck).not.toBeNull();
  await struck;
  return { batch: handle.id, trials, summary, outages };
}

/** Every trial has one attempt that counts, with a verdict of its own that passes; none is counted twice; no world is left. */
export async function expectAllCounted(testbed: Testbed, { batch, trials, summary }: Awaited<ReturnType<typeof runStruck>>): Promise<void> {
  const { store, worlds } = testbed.root;
  expect(trials.filter(({ ending, pass }) => ending !== 'completed' || pass !== 'pass')).toEqual([]);
  expect(new Set(trials.map(({ trial }) => trial)).size).toBe(trials.length);
  const rows = await store.trials(batch);
  expect(trials.map(({ trial }) => trial).sort()).toEqual(rows.map(({ id }) => id).sort());
  for (const trial of trials) {
    await observed(store, trial);
    const endings = (await store.attempts(trial.trial)).map(({ ending }) => ending);
    expect(endings).toEqual([...endings.slice(1).map(() => 'infra_error'), 'completed']);
  }
  expect(summary).toMatchObject({ trials: rows.length, passed: rows.length, failed: 0, undetermined: 0, infraErrors: 0, gate: 'met', worlds: { leaked: 0 } });
  expect((await store.batch(batch))?.state).toBe('finished');
  expect(await worlds.leased(`${batch}-`)).toBe(0);
}
