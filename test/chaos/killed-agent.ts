import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { RunRequest } from '../../src/client/api.ts';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { endLeftover, startMark } from '../../src/infra/process.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import type { Testbed } from '../harness/testbed.ts';
import { until } from './until.ts';

/**
 * Kills the worker of a batch of one trial while the agent's own processes act, of which the agent writes the ids to `file`, and lets another worker go on. They have
 * ended then, and the attempt was no result. Gives the trial as the next attempt left it.
 */
export async function killWhileActing({ config, root }: Pick<Testbed, 'config' | 'root'>, request: RunRequest, file: string): Promise<TrialSummary> {
  const doomed = await startWorkerProcess(config);
  const handle = await run(root, { ...request, keep: 'never' }, new Promise(() => {}));
  const pids = await until('the agent acts', async () => JSON.parse(await readFile(file, 'utf8')) as number[]);
  using cleanUp = new DisposableStack();
  for (const pid of pids) {
    const mark = await startMark(pid);
    expect(mark).not.toBeNull();
    // What a test finds must not outlive it.
    cleanUp.defer(() => void endLeftover(pid, mark ?? '', [], 1_000));
  }
  process.kill(doomed.pid, 'SIGKILL');
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(root);
  for (const pid of pids) await until(`process ${pid} has ended`, async () => (await startMark(pid)) === null);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  const [trial] = trials;
  if (!trial) throw new Error('the batch has no trial');
  expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt: 2 }]);
  expect(await root.store.attempts(trial.trial)).toMatchObject([
    { ending: 'infra_error', counts: false },
    { ending: 'completed', counts: true },
  ]);
  return trial;
}
