import type { TrialSummary } from '../../domain/trial.ts';
import { attemptEvidence } from './evidence.ts';
import { type Found, said } from './found.ts';
import type { TrialFacts } from './trial-facts.ts';

/** How a trial ended, and by what. */
export function explainEnd({ now, trial, attempts, standing, batch }: TrialFacts, summary: TrialSummary): Found {
  const { ending, pass, why } = summary;
  const evidence = attempts.toReversed().map((row) => attemptEvidence(now, row, row.attempt === summary.attempt ? pass : null));
  const because = why === null ? '' : `: ${said(why)}`;
  if (standing?.settled === false) {
    return {
      cause: 'retry',
      sentence: `it waits for another attempt, which ${batch.workforce.launches ? 'its batch launches when there is room' : 'nobody launches now'}; attempt ${summary.attempt} ended ${ending}${because}`,
      evidence,
      next: batch.workforce.launches ? null : `\`trialbed watch ${trial.batch}\` goes on with its batch`,
    };
  }
  const ended = `nothing, it has ended: ${ending}`;
  if (ending === 'infra_error') {
    const tries = summary.attempt === 1 ? '' : ` after ${summary.attempt} attempts`;
    return {
      cause: 'infrastructure',
      sentence: `it waits for ${ended}${tries}, which is no result${because}`,
      evidence,
      next: `\`trialbed requeue ${trial.id}\` runs it again when that is mended`,
    };
  }
  const result = pass === null ? '' : `, verdict ${pass}`;
  return {
    cause: ending === 'budget_exhausted' ? 'budget' : 'done',
    sentence: `it waits for ${ended}${result}${because}`,
    evidence,
    next: `\`trialbed show ${trial.id}\` shows it from the request to the verdict`,
  };
}
