import type { Store } from '../store/store.ts';
import type { AttemptRef } from './contract.ts';

/** Shorter waits for a rate limit are over before anybody reads of them. */
const TOLD_MS = 1_000;

/** Tells whoever watches for how long an attempt waits for a model. A wait that cannot be told is waited all the same. */
export function tellsModelWait(store: Pick<Store, 'setModelWait'>, { trial, attempt }: AttemptRef): (ms: number) => void {
  return (ms) => void (ms < TOLD_MS || store.setModelWait(trial, attempt, ms).catch(() => undefined));
}
