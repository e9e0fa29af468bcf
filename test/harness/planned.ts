import { customAlphabet } from 'nanoid';
import { startBatch } from '../../src/client/start-batch.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Testbed } from './testbed.ts';

const newId = customAlphabet('abcdefghjkmnpqrstuvwxyz', 10);

/** Runs a stored trial's content again in a batch of its own whose environment claims to be of another generation. */
export async function planned(testbed: Testbed, like: TrialSummary, environment: { readonly generation: string }): Promise<TrialSummary> {
  const { store } = testbed.root;
  const [batch, trial] = await Promise.all([store.batch(like.batch), store.trial(like.trial)]);
  if (!batch || !trial) throw new Error('the trial is not in the store');
  const id = newId();
  const { caseId, caseHash, agentName, agentHash, schedule, scheduleHash, repetition } = trial;
  await store.createBatch({
    id,
    suite: batch.suite,
    suiteFile: batch.suiteFile,
    manifestHash: id,
    environment: { ...batch.environment, ...environment },
    seed: batch.seed,
    options: batch.options,
    sources: batch.sources,
    trials: [{ id: `${id}-1`, caseId, caseHash, agentName, agentHash, schedule, scheduleHash, repetition }],
  });
  const stored = await store.batch(id);
  if (!stored) throw new Error('the batch is not in the store');
  const handle = startBatch(testbed.root, stored, false, new Promise(() => {}));
  for await (const event of handle.events()) if (event.type === 'trial') return event;
  throw new Error('the batch ended without a trial');
}
