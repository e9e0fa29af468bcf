import type { BatchWhy, TrialWhy } from '../../domain/why.ts';
import { NotFoundError } from '../api.ts';
import { whyBatch } from './why-batch.ts';
import { batchFacts, type Looking } from './batch-facts.ts';
import { explainTrial } from './explain-trial.ts';
import { trialFacts } from './trial-facts.ts';

/**
 * What a trial or a batch waits for, by the id of a batch, or that of a trial or the beginning of it that only this trial has. Answers within two seconds where the store does, whatever
 * else is stuck or away: nothing is asked of what may be wedged, and every question has its time. @throws {NotFoundError}
 */
export async function why(looking: Looking, id: string): Promise<TrialWhy | BatchWhy> {
  const { store } = looking.root;
  const batch = await store.batch(id);
  if (batch) return whyBatch(looking, batch);
  const trial = await store.trial(id);
  const own = trial && (await store.batch(trial.batch));
  if (!trial || !own) throw new NotFoundError(`there is no batch or trial ${id}; \`trialbed ps\` lists batches, \`trialbed ps BATCH\` a batch's trials`);
  return explainTrial(await trialFacts(looking, trial, batchFacts(looking, own)));
}
