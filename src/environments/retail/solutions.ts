import { isDeepStrictEqual } from 'node:util';
import { ToolFailure } from '../define.ts';
import { FILES, readJson } from './data.ts';
import { type FileShop, openFileShop, type ShopChanges } from './file-shop.ts';
import type { GoldCall, Task } from './tasks.ts';
import { WRITES } from './write-tools.ts';

/** What the gold calls of a task leave in the shop. Steps are indexes in `gold`. */
export interface SolutionTrace {
  /** Every order and user is as it was. */
  readonly unchanged: boolean;
  /** Writes that the shop refuses. */
  readonly refused: readonly number[];
  /** Writes that it makes, and without which it ends just the same: a later call overwrites what they write, or it was there already. */
  readonly traceless: readonly number[];
}

/**
 * Plays the solutions, one task after the other, on the records of the folder, and each again without each of its writes.
 * @throws {RetailDataError} for a missing or malformed data file.
 */
export async function traceSolutions(folder: string, tasks: readonly Task[]): Promise<ReadonlyMap<Task, SolutionTrace>> {
  const shop = openFileShop({
    users: readJson(folder, FILES.users),
    orders: readJson(folder, FILES.orders),
    products: readJson(folder, FILES.products),
  });
  const traces = new Map<Task, SolutionTrace>();
  for (const task of tasks) traces.set(task, await traceOf(shop, task.gold));
  return traces;
}

async function traceOf(shop: FileShop, gold: readonly GoldCall[]): Promise<SolutionTrace> {
  const whole = await play(shop, gold);
  const traceless: number[] = [];
  for (const at of whole.made) {
    const without = await play(shop, gold.toSpliced(at, 1));
    if (isDeepStrictEqual(without.end, whole.end)) traceless.push(at);
  }
  return { unchanged: whole.end.size === 0, refused: whole.refused, traceless };
}

interface Played {
  readonly made: readonly number[];
  readonly refused: readonly number[];
  readonly end: ShopChanges;
}

/** Ends with the shop as it was. */
async function play(shop: FileShop, calls: readonly GoldCall[]): Promise<Played> {
  const made: number[] = [];
  const refused: number[] = [];
  for (const [at, { tool, args }] of calls.entries()) {
    const rule = Object.hasOwn(WRITES, tool) ? WRITES[tool as keyof typeof WRITES] : undefined;
    if (rule === undefined) continue;
    try {
      await rule.apply(shop, args);
      made.push(at);
    } catch (error) {
      // A refusal is part of what some solutions do.
      if (!(error instanceof ToolFailure)) throw error;
      refused.push(at);
    }
  }
  const end = shop.changes();
  shop.reset();
  return { made, refused, end };
}
