import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { expect, inject, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTestbed } from '../harness/testbed.ts';

const REQUEST = { suite: 'support-desk', agents: ['reference', 'hasty', 'do-nothing'], keep: 'never' } as const;

/** What a trial came to. That it was disturbed may differ. */
const verdictOf = ({ ending, pass, outcome, constraints, effects, why }: TrialSummary) => ({ ending, pass, outcome, constraints, effects, why });
const nameOf = (trial: TrialSummary) => `${trial.case} ${trial.agent}`;

it('with 100 trials in flight on a machine that has no time left, not one verdict changes', async () => {
  await using testbed = await startTestbed(inject('services'));
  const quiet = new Map((await testbed.run({ ...REQUEST, concurrency: 2 })).trials.map((trial) => [nameOf(trial), verdictOf(trial)]));
  await using _load = startLoad(availableParallelism());
  const { trials } = await testbed.run({ ...REQUEST, trials: 2, concurrency: 100 });
  expect(trials).toHaveLength(2 * quiet.size);
  expect(trials.length).toBeGreaterThan(100);
  // What the load broke is told apart and never scored.
  const scored = trials.filter(({ ending }) => ending !== 'infra_error');
  expect(trials.filter(({ ending, pass }) => ending === 'infra_error' && pass !== null)).toEqual([]);
  expect(scored.length).toBeGreaterThan(trials.length / 2);
  for (const trial of scored) expect(verdictOf(trial), nameOf(trial)).toEqual(quiet.get(nameOf(trial)));
}, 600_000);

/** Processes that do nothing but compute, until they are disposed of. */
function startLoad(processes: number): AsyncDisposable {
  const children: ChildProcess[] = Array.from({ length: processes }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return {
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
