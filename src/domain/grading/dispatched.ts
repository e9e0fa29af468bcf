import type { Operation } from '../operation.ts';

/** It got past validation, permission and approval: a call that could have had its effect. A replay by idempotency key is none. */
export function dispatched(operation: Operation): boolean {
  // What was told to wait is what became of it.
  const state = operation.ended?.state ?? operation.told;
  if (state !== 'committed' && state !== 'failed' && state !== 'unknown') return false;
  if (operation.problem?.code === 'budget_exhausted') return false;
  return operation.position !== null || operation.idempotencyKey === null;
}
