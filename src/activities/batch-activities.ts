import { ApplicationFailure } from '@temporalio/common';
import { WorkflowExecutionAlreadyStartedError, type WorkflowClient, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { LaunchableTrial } from '../store/store.ts';
import type { BatchStanding } from '../store/launching.ts';
import type { trial as trialWorkflow } from '../workflows/trial.ts';
import { MAX_CONCURRENCY } from '../domain/trial.ts';
import { batchWorkflowId } from '../workflows/batch-messages.ts';
import { SEARCH_ATTRIBUTES, type TrialInput, WORKFLOW_TASK_TIMEOUT } from '../workflows/messages.ts';
import type { BatchActivities, LaunchRequest } from './batch-contract.ts';
import { inParallel } from './in-parallel.ts';
import { isDone, recordBroken } from './record-broken.ts';
import type { ActivityServices } from './services.ts';

/** Requests to Temporal at once, for one step of one batch. */
const AT_ONCE = 10;

type Services = Pick<ActivityServices, 'store' | 'failpoint' | 'now' | 'log'>;
type Place = Pick<LaunchRequest, 'window' | 'taskQueue'>;

/**
 * What a batch's workflow does. Trials are started by the client and not as the workflow's children: a start then costs the batch no event of its own (a page of them is
 * one marker), a trial lives on when its batch is terminated or continues as new, and none of them is bound to a run of the batch that is no more.
 */
export function createBatchActivities(services: Services, workflows: WorkflowClient): BatchActivities {
  const { store, failpoint } = services;
  return {
    adoptBatch: ({ batch }) => store.releaseClaims(batch),

    async launchTrials({ batch, window, taskQueue, room, inFlight }) {
      const standing = await standingOf(services, batch);
      const { state, hold, maxCost } = standing;
      const nothing = { started: [], exhausted: false };
      if (state !== 'running') return { ...nothing, halt: state === 'interrupted' ? 'interrupted' : 'cancelled' };
      if (hold !== null) return { ...nothing, halt: hold === 'paused' ? 'paused' : 'cancelled' };
      if (window !== batchWorkflowId(batch) && !(await isRunning(workflows, batchWorkflowId(batch)))) return { ...nothing, halt: 'interrupted' };
      const spent = maxCost !== null && (await store.spent(batch, maxCost.currency)) >= maxCost.amount;
      // One that was launched before goes on, whatever it costs.
      const rows = await store.claimTrials(batch, { claimant: window, known: inFlight, limit: room, begun: spent });
      await inParallel(rows, AT_ONCE, (row) => startTrial(workflows, standing, row, { window, taskQueue }));
      failpoint('trials_started_before_noted');
      const exhausted = rows.length < room;
      return { started: rows.map(({ id }) => id), exhausted: exhausted && !spent, halt: exhausted && spent ? 'spent' : null };
    },

    async findEnded({ batch, inFlight, ...place }) {
      const ended = [...(await store.settledAmong(inFlight))];
      const settled = new Set(ended);
      const standing = await standingOf(services, batch);
      const open = inFlight.filter((id) => !settled.has(id));
      await inParallel(open, AT_ONCE, async (id) => {
        if (await hasEnded(services, workflows, standing, id, place)) ended.push(id);
      });
      return ended;
    },

    async cancelTrials({ batch, window, inFlight }) {
      const begun = await store.claimTrials(batch, { claimant: window, known: inFlight, limit: MAX_CONCURRENCY, begun: true });
      const all = [...inFlight, ...begun.map(({ id }) => id)];
      await inParallel(all, AT_ONCE, async (id) => {
        await workflows.getHandle(id).cancel().catch(ignoreGone);
      });
      return all;
    },

    controlBatch: ({ batch, ...change }) => store.setControl(batch, change),

    async endBatch({ batch, halt }) {
      if (halt === 'cancelled') {
        await store.setBatchState(batch, 'cancelled');
        return 'cancelled';
      }
      if (await store.finishBatch(batch)) return 'finished';
      const { state, maxCost } = await standingOf(services, batch);
      if (state === 'interrupted') return 'interrupted';
      // The limit may have been raised meanwhile.
      if (halt === 'spent' && maxCost !== null && (await store.spent(batch, maxCost.currency)) >= maxCost.amount) {
        await store.setBatchState(batch, 'interrupted');
        return 'interrupted';
      }
      // Something was opened again, or claimed by a window that is no more.
      await store.releaseClaims(batch);
      return null;
    },
  };
}

async function standingOf({ store }: Services, batch: string): Promise<BatchStanding> {
  const standing = await store.standing(batch);
  // All else that fails is tried again for as long as it takes.
  if (!standing) throw ApplicationFailure.nonRetryable(`batch ${batch} is not in the store`, 'BatchMissing');
  return standing;
}

/** Starts the trial's workflow, or joins the one that runs. */
async function startTrial(workflows: WorkflowClient, { suite, options }: BatchStanding, row: LaunchableTrial, { window, taskQueue }: Place): Promise<void> {
  const input: TrialInput = {
    trial: row.id,
    batch: row.batch,
    case: row.caseId,
    agent: row.agentName,
    firstAttempt: row.attempt + 1,
    retries: options.retries,
    together: true,
    togetherFromStart: true,
    reportTo: window,
  };
  try {
    await workflows.start<typeof trialWorkflow>('trial', {
      workflowId: row.id,
      taskQueue,
      args: [input],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: [
        { key: SEARCH_ATTRIBUTES.batch, value: row.batch },
        { key: SEARCH_ATTRIBUTES.case, value: row.caseId },
        { key: SEARCH_ATTRIBUTES.agent, value: row.agentName },
      ],
      staticSummary: [row.caseId, ...(row.scheduleHash === null ? [] : [row.schedule]), row.agentName, row.repetition].join(' / '),
      staticDetails: `Trial ${row.id} of batch ${row.batch}, suite ${suite}.`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

async function isRunning(workflows: WorkflowClient, id: string): Promise<boolean> {
  try {
    return (await workflows.getHandle(id).describe()).status.name === 'RUNNING';
  } catch (error) {
    ignoreGone(error);
    return false;
  }
}

/** Whether nothing more is to come of a trial that has not reported. */
async function hasEnded(services: Services, workflows: WorkflowClient, standing: BatchStanding, id: string, place: Place): Promise<boolean> {
  const { store, now, log } = services;
  const handle = workflows.getHandle<typeof trialWorkflow>(id);
  let durationMs = 0;
  try {
    const found = await handle.describe();
    if (found.status.name === 'RUNNING') return false;
    durationMs = now().getTime() - found.startTime.getTime();
    await handle.result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
    const row = await store.trial(id);
    if (!row) return true;
    log.warn({ trial: id, err: error }, 'a trial ended without a word');
    await recordBroken(store, row, error, { durationMs, now: now() });
    return true;
  }
  const row = await store.trial(id);
  if (!row || isDone(row.summary)) {
    await store.settle([id]);
    return true;
  }
  // It was joined while it came to the end from which it was to be run again.
  await startTrial(workflows, standing, row, place);
  return false;
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
