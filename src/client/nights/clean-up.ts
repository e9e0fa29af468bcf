import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { printable } from '../../domain/text/bounded.ts';
import type { NightCleaned, NightRow } from '../../store/nights.ts';
import type { BatchRow } from '../../store/store.ts';
import type { Root } from '../../worker/root.ts';
import { cancelUpdate } from '../../workflows/batch-messages.ts';
import { queueOf } from '../../workflows/messages.ts';
import { orStart } from '../start-workflow.ts';
import { sweep } from '../sweep.ts';

/** Longest time that the batch of a lost night may take to end, and how soon its workflow looks for trials that ended without a word. */
const ENDS_MS = 5 * 60_000;
const RECONCILE_MS = 2_000;
const POLL_MS = 200;

/**
 * Ends nights that began and whose workflow is closed, with their batches, and removes what the trials of closed workflows have left: worlds, and accounts at real services. Only what
 * is ours by name or by the registry is touched.
 */
export async function cleanUp(root: Root, except: string): Promise<NightCleaned> {
  const { store } = root;
  const problems: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      problems.push(printable(`${what}: ${error instanceof Error ? error.message : String(error)}`));
      return null;
    }
  };
  const lost = await lostNights(root, except);
  const batches: string[] = [];
  for (const night of lost) {
    const batch = night.batch === null ? null : await store.batch(night.batch);
    if (batch && (batch.state === 'running' || batch.state === 'interrupted') && (await attempt(`batch ${batch.id}`, () => cancelBatch(root, batch))))
      batches.push(batch.id);
    await store.nights.unlock(night.id);
    await store.nights.set(night.id, { state: 'lost', ended: new Date(), why: 'its workflow was ended, and it had not said what it had shown' });
  }
  const swept = await attempt('worlds', () => sweep(root, {}));
  return { nights: lost.map(({ id }) => id), batches, worlds: swept?.swept.length ?? 0, problems };
}

async function lostNights({ store, temporal }: Pick<Root, 'store' | 'temporal'>, except: string): Promise<readonly NightRow[]> {
  const lost: NightRow[] = [];
  for (const night of await store.nights.running()) {
    if (night.id === except || night.workflow === null) continue;
    const status = await temporal.workflow
      .getHandle(night.workflow)
      .describe()
      .then(
        (description) => description.status.name,
        (error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return 'NOT_FOUND' as const;
          throw error;
        },
      );
    if (status !== 'RUNNING' && status !== 'PAUSED') lost.push(night);
  }
  return lost;
}

/** Also where its workflow is gone: a new one ends what is under way, and finds what has ended. The worker of the night serves it. */
async function cancelBatch({ store, temporal, config }: Root, batch: BatchRow): Promise<true> {
  const options = { temporal, batch, taskQueue: queueOf(config.taskQueue, batch), settings: { reconcileMs: RECONCILE_MS } };
  const deadline = Date.now() + ENDS_MS;
  await temporal.withDeadline(deadline, () => temporal.workflow.executeUpdateWithStart(cancelUpdate, { startWorkflowOperation: orStart(options) }));
  while (Date.now() < deadline) {
    if ((await store.batch(batch.id))?.state === 'cancelled') return true;
    await pause(POLL_MS);
  }
  throw new Error('it was asked to end and has not');
}
