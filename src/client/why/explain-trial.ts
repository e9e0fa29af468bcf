import { waitReason } from '../../domain/progress.ts';
import type { TrialWhy } from '../../domain/why.ts';
import { explainEnd } from './explain-end.ts';
import { explainWaiting } from './explain-waiting.ts';
import { explainRunning } from './explain-running.ts';
import { asSentence, type Found } from './found.ts';
import type { TrialFacts } from './trial-facts.ts';

/** Says what a trial waits for, from what was found of it. */
export function explainTrial(facts: TrialFacts): TrialWhy {
  const { trial, temporalProblem } = facts;
  const { cause, sentence, evidence, next } = found(facts);
  return {
    type: 'why',
    what: 'trial',
    trial: trial.id,
    batch: trial.batch,
    case: trial.caseId,
    agent: trial.agentName,
    schedule: trial.schedule,
    phase: trial.phase,
    attempt: trial.attempt,
    cause,
    sentence: asSentence(sentence),
    evidence,
    next,
    temporalProblem,
  };
}

function found(facts: TrialFacts): Found {
  const { trial, workflow, standing, temporalProblem } = facts;
  if (trial.phase === 'done' && (standing?.settled !== false || workflow?.status !== 'RUNNING') && trial.summary) return explainEnd(facts, trial.summary);
  if (workflow?.status === 'RUNNING') return explainRunning(facts, workflow);
  if (temporalProblem !== null) return unreachable(facts, temporalProblem);
  if (standing?.launched || trial.attempt > 0) return gone(facts);
  return explainWaiting(facts);
}

/** Temporal does not answer: what the store knows. */
function unreachable(facts: TrialFacts, reason: string): Found {
  const { trial, batch, standing, approvals } = facts;
  const attempt = trial.attempt > 1 ? 'further' : trial.attempt === 1 ? 'first' : standing?.launched ? 'launched' : 'none';
  const known = waitReason({ phase: trial.phase, attempt, asks: approvals.length > 0, waits: standing?.modelWaitUntil ? 'model' : null }, batch.workforce);
  if (attempt === 'none' && batch.batch.state !== 'running') return explainWaiting(facts);
  const waits = known === null ? '' : ` and waited for ${WORDS[known]}`;
  return {
    cause: 'infrastructure',
    sentence: `Temporal cannot be asked (${reason}); by the store, attempt ${trial.attempt} was in phase ${trial.phase}${waits}, and nothing of it goes on until Temporal is back`,
    evidence: [{ kind: 'outage', service: 'Temporal', reason, text: `Temporal: ${reason}` }],
    next: '`trialbed doctor` shows what was found of the services; when Temporal is back, the trial goes on by itself',
  };
}

/** In the words of `ps`. */
const WORDS = {
  turn: 'its turn',
  paused: 'its batch to be resumed',
  launcher: 'somebody to go on with its batch',
  worker: 'a worker',
  world: 'a world',
  approval: 'an approval',
  model: "a model's rate limit",
  retry: 'another attempt',
} as const;

/** It was launched, and no workflow of it runs. */
function gone({ trial, workflow, batch }: TrialFacts): Found {
  const how = workflow === null ? 'Temporal knows nothing of its workflow' : `its workflow is ${workflow.status.toLowerCase().replaceAll('_', ' ')}`;
  const said = workflow?.end ? ` (${workflow.end})` : '';
  const since = workflow?.closedAt ?? null;
  const served = batch.workforce.worker === true && batch.workforce.state === 'running';
  return {
    cause: 'lost',
    sentence: `${how}${said}, and left no result: attempt ${trial.attempt} was in phase ${trial.phase}, and nothing goes on`,
    evidence: [
      {
        kind: 'workflow',
        status: workflow?.status ?? 'NOT_FOUND',
        since,
        run: workflow?.run ?? null,
        text: `workflow ${trial.id}: ${workflow?.status ?? 'not found'}${since === null ? '' : ` since ${since}`}`,
      },
    ],
    next: `${served ? 'Its batch finds it within half a minute and records it; ' : ''}\`trialbed requeue ${trial.id}\` puts it into the queue again`,
  };
}
