import type { BatchRow } from '../store/store.ts';
import type { Root } from '../worker/root.ts';
import type { BatchHandle } from './api.ts';
import { launch } from './launcher.ts';

/** Launches a stored batch. */
export function startBatch(root: Root, batch: BatchRow, resumed: boolean, broken: Promise<never>): BatchHandle {
  return launch({
    store: root.store,
    temporal: root.temporal,
    taskQueue: root.config.taskQueue,
    batch,
    resumed,
    broken,
    worlds: async () => ({ leased: await root.worlds.leased(`${batch.id}-`) }),
  });
}
