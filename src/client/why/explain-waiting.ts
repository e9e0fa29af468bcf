import type { WhyEvidence } from '../../domain/why.ts';
import { explainBatch } from './explain-batch.ts';
import type { Found } from './found.ts';
import type { TrialFacts } from './trial-facts.ts';

/** A trial that nobody has launched waits for its batch. */
export function explainWaiting({ now, batch, trial }: TrialFacts): Found {
  const found = explainBatch(now, batch);
  if (found.cause !== 'working') return { ...found, sentence: `it has not been launched: ${found.sentence}` };
  const { concurrency } = batch.batch.options;
  const evidence: readonly WhyEvidence[] = found.evidence;
  return {
    cause: 'turn',
    sentence: `it waits for its turn: its batch has at most ${concurrency} trial${concurrency === 1 ? '' : 's'} in flight, and launches it when others have ended`,
    evidence,
    next: `\`trialbed why ${trial.batch}\` shows what those in flight wait for`,
  };
}
