import type { BatchFacts } from './batch-facts.ts';
import { lockEvidence, queueEvidence, workflowEvidence } from './evidence.ts';
import { failingTask } from './failing-task.ts';
import type { Found } from './found.ts';
import { heldLocks } from './held-locks.ts';

/** What a batch itself waits for, whatever its trials do. `working`: nothing is in its way. */
export function explainBatch(now: Date, facts: BatchFacts): Found {
  const { batch, workforce, budget, outages, queue, workflow, temporalProblem } = facts;
  const { id, hold, state } = batch;
  const standing = { kind: 'batch', state, hold, text: `batch ${id}: ${state}${hold === null ? '' : `, ${hold}`}` } as const;
  const evidence = [standing, ...(temporalProblem === null ? [queueEvidence(now, queue)] : [])];
  if (state === 'finished' || state === 'cancelled') return { cause: 'done', sentence: `the batch is ${state}`, evidence: [standing], next: null };
  if (budget && state !== 'running') {
    const sentence = `the budget of the batch is used up: ${budget.text}, and nothing more is launched`;
    return { cause: 'budget', sentence, evidence: [budget, standing], next: 'The command that began it goes on with it, given a higher `--max-cost`' };
  }
  const wedged =
    workflow?.status === 'RUNNING'
      ? failingTask(now, workflow, { what: "the batch's workflow", replay: `\`trialbed replay ${id}\``, again: `\`trialbed cancel ${id}\`` })
      : null;
  if (wedged) return { ...wedged, evidence: [...wedged.evidence, ...evidence] };
  const [lock] = heldLocks(
    now,
    facts.locks.map((one) => ({ ...one, server: 'the store' })),
  );
  if (lock) {
    const found = lockEvidence(now, lock);
    return {
      cause: 'lock',
      sentence: `the store waits for a lock: ${found.text}`,
      evidence: [found, ...evidence],
      next: 'End that session, or its transaction',
    };
  }
  if (outages[0])
    return {
      cause: 'infrastructure',
      sentence: outages[0].text,
      evidence: [...outages, standing],
      next: '`trialbed doctor` shows what was found of the services',
    };
  if (temporalProblem !== null) {
    return {
      cause: 'infrastructure',
      sentence: `Temporal cannot be asked (${temporalProblem}); by the store, the batch is ${workforce.state}`,
      evidence: [{ kind: 'outage', service: 'Temporal', reason: temporalProblem, text: `Temporal: ${temporalProblem}` }, standing],
      next: '`trialbed doctor` shows what was found of the services',
    };
  }
  if (workforce.state === 'paused') {
    return { cause: 'paused', sentence: 'the batch is paused, and launches nothing', evidence, next: `\`trialbed resume ${id}\` goes on with it` };
  }
  if (state === 'interrupted') {
    const sentence = workforce.worker
      ? 'the batch was interrupted, and nobody launches its trials'
      : 'the batch was interrupted: no command and no worker works on it';
    return { cause: 'launcher', sentence, evidence, next: `\`trialbed watch ${id}\` goes on with it, or the command that began it` };
  }
  if (budget)
    return {
      cause: 'budget',
      sentence: `the budget of the batch is used up: ${budget.text}, and nothing more is launched`,
      evidence: [budget, ...evidence],
      next: null,
    };
  if (workforce.worker === false) {
    return {
      cause: 'worker',
      sentence: `no worker asks for work on the queue ${queue.queue}`,
      evidence,
      next: `\`trialbed watch ${id}\` starts one, or \`trialbed worker\``,
    };
  }
  if (workflow !== null && workflow.status !== 'RUNNING') {
    const sentence = `the workflow of the batch is ${workflow.status.toLowerCase().replaceAll('_', ' ')}${workflow.end === null ? '' : ` (${workflow.end})`}, and nobody launches its trials`;
    return { cause: 'launcher', sentence, evidence: [workflowEvidence(now, workflow), ...evidence], next: `\`trialbed watch ${id}\` goes on with it` };
  }
  return { cause: 'working', sentence: hold === 'cancelling' ? 'the batch is being cancelled' : 'the batch goes on', evidence, next: null };
}
