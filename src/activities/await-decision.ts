import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import type { AttemptRef } from './contract.ts';

const POLL_MS = 500;

/** Waits while people have not decided about a call that was told to wait: that time is not the agent's. In front of a case's approver nobody waits. */
export type AwaitDecision = (operation: string) => Promise<void>;

/** `signal`: the conversation is over. */
export function awaitDecision(store: Pick<Store, 'approval'>, { trial, attempt }: AttemptRef, signal: AbortSignal): AwaitDecision {
  return async (operation) => {
    while (!signal.aborted) {
      // A store that is away for a moment has not decided.
      const asked = await store.approval(trial, attempt, operation).catch(() => undefined);
      if (asked === null || asked?.people === false || asked?.end) return;
      await pause(POLL_MS, undefined, { signal }).catch(() => {});
    }
  };
}
