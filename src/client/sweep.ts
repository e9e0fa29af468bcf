import type { SweepReport } from '../environments/world.ts';
import type { Root } from '../worker/root.ts';

/** Drops worlds whose lease has lapsed or whose workflow is closed. */
export function sweep(root: Root, options: { readonly dryRun?: boolean }): Promise<SweepReport> {
  return root.worlds.sweep({ ...options, closed: (ids, asked) => closedWorkflows(root, ids, asked?.unknownIsClosed ?? true) });
}

async function closedWorkflows(root: Root, ids: readonly string[], unknownIsClosed: boolean): Promise<ReadonlySet<string>> {
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
