import type { SweepReport } from '../environments/world.ts';
import type { Root } from '../worker/root.ts';

/** What was swept, or with `dryRun` is to be. */
export interface SweptReport extends SweepReport {
  /** Trials whose conversations with models were still kept as they were said, word for word, though nothing will go on with them. */
  readonly forgotten: number;
}

/** Drops worlds whose lease has lapsed or whose workflow is closed, and forgets what such a trial no longer needs. */
export async function sweep(root: Root, options: { readonly dryRun?: boolean }): Promise<SweptReport> {
  const report = await root.worlds.sweep({ ...options, closed: (ids, asked) => closedWorkflows(root, ids, asked?.unknownIsClosed ?? true) });
  return { ...report, forgotten: await forgetConversations(root, options) };
}

/** A workflow that was terminated has ended no attempt. Where it is begun again, it begins another attempt, and needs nothing of this one. */
async function forgetConversations({ store, ...root }: Pick<Root, 'store' | 'temporal'>, { dryRun }: { readonly dryRun?: boolean }): Promise<number> {
  const live = await store.liveConversations();
  const closed = await closedWorkflows(
    root,
    live.map(({ trial }) => trial),
    true,
  );
  const dead = live.filter(({ trial }) => closed.has(trial));
  if (!dryRun) for (const { trial, attempt } of dead) await store.forgetLive(trial, attempt);
  return dead.length;
}

async function closedWorkflows(root: Pick<Root, 'temporal'>, ids: readonly string[], unknownIsClosed: boolean): Promise<ReadonlySet<string>> {
  const closed = new Set<string>();
  for (const id of ids) {
    const status = await root.temporal.workflow
      .getHandle(id)
      .describe()
      .then(
        (description) => description.status.name,
        // Unknown to Temporal: its history was lost or has expired, so nothing will ever release the world.
        (error: unknown) => ((error as { name?: unknown }).name === 'WorkflowNotFoundError' && unknownIsClosed ? 'NOT_FOUND' : 'UNREACHABLE'),
      );
    if (status !== 'RUNNING' && status !== 'UNREACHABLE' && status !== 'PAUSED') closed.add(id);
  }
  return closed;
}
