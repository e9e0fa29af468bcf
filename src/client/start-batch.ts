import type { Money } from '../domain/model.ts';
import type { BatchRow } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import type { BatchSettings } from '../workflows/batch-messages.ts';
import type { BatchHandle } from './api.ts';
import { launch } from './launcher.ts';
import { worldCounts } from './world-counts.ts';

/** A batch of which everything is stored that its trials need. */
export interface PreparedBatch {
  readonly batch: BatchRow;
  /** It was interrupted before. */
  readonly resumed: boolean;
  /** Null: no limit. */
  readonly maxCost: Money | null;
}

/** What runs a batch's trials. */
export interface Work {
  /** The task queue that it polls. */
  readonly taskQueue: string;
  /** Rejects when it ended although nobody stopped it. */
  readonly broken: Promise<never>;
}

/** Gives a stored batch something that runs its trials. */
export type WorkFor = (batch: BatchRow) => Promise<Work>;

/** Launches a stored batch on a worker that polls the root's own task queue unless another is named. */
export function startBatch(
  root: Root,
  batch: BatchRow,
  resumed: boolean,
  broken: Promise<never>,
  taskQueue = root.config.taskQueue,
  maxCost: Money | null = null,
  settings: Partial<BatchSettings> = {},
): BatchHandle {
  return launch({
    store: root.store,
    temporal: root.temporal,
    taskQueue,
    batch,
    resumed,
    maxCost,
    broken,
    settings,
    worlds: () => worldCounts(root, batch.id),
    now: root.now,
  });
}
