import { setTimeout as pause } from 'node:timers/promises';
import type { World } from '../environments/world.ts';

/** How long a dispatch that was cut off by an injected time-out may go on before it is given up as lost. Under load everything takes its time. */
const PATIENCE_MS = 30_000;
const POLL_MS = 25;

/**
 * How a dispatch ended whose reply was not waited for. What neither committed nor was refused in time has been lost with its worker: it is fenced, so that it cannot
 * come later. So is one that was not to act at all (`acts`).
 */
export async function settled(
  world: World,
  { operation, dispatch, acts }: { readonly operation: string; readonly dispatch: number; readonly acts: boolean },
): Promise<'committed' | 'failed' | 'lost'> {
  const deadline = acts ? Date.now() + PATIENCE_MS : 0;
  while (Date.now() < deadline) {
    const state = (await world.ledger.read(operation))?.state;
    if (state === 'committed' || state === 'failed') return state;
    // Its service left it open; what it did stands in the service's own record.
    if (state === 'unknown') return 'committed';
    await pause(POLL_MS);
  }
  const { row, effects } = await world.ledger.recover(operation, dispatch);
  if (row?.state === 'committed' || effects > 0) return 'committed';
  return row?.state === 'failed' ? 'failed' : 'lost';
}
