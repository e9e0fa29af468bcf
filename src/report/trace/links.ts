import type { DrawnRule } from '../../domain/fault.ts';
import type { RecoveryNote } from '../../domain/verdict.ts';
import type { TraceLink, TraceStep } from './trace.ts';

/** What steps have to do with each other, by the number of the step that tells it. */
export function linksOf(
  steps: readonly TraceStep[],
  recovery: readonly RecoveryNote[],
  rules: readonly DrawnRule[],
): ReadonlyMap<number, readonly TraceLink[]> {
  const links = new Map<number, TraceLink[]>();
  const byOperation = new Map(steps.flatMap(({ operation, n }) => (operation === null ? [] : [[operation.id, n] as const])));
  const pair = (from: number | undefined, what: TraceLink['what'], to: number | undefined, back: TraceLink['what']) => {
    if (from === undefined || to === undefined || from === to) return;
    links.set(from, [...(links.get(from) ?? []), { step: to, what }]);
    links.set(to, [...(links.get(to) ?? []), { step: from, what: back }]);
  };
  for (const { operation, repeats } of recovery) {
    for (const repeat of repeats) pair(byOperation.get(operation), 'repeated_by', byOperation.get(repeat), 'repeats');
  }
  for (const { n, operation } of steps) {
    if (operation?.replayOf != null) pair(n, 'answered_by', byOperation.get(operation.replayOf), 'answers');
    if (operation?.reconciled) pair(n, 'looked_up_by', byOperation.get(operation.reconciled.by), 'looks_up');
  }
  for (const { n, kind, faults, by } of steps) {
    if (kind !== 'outside') continue;
    if (by === 'approver') pair(n, 'while_waiting', steps.find((step) => step.n > n && step.operation?.approval !== undefined)?.n, 'changed_outside');
    for (const { operation, rule } of faults) {
      if (operation !== null && rules.some(({ index }) => index === rule)) pair(n, 'hit', byOperation.get(operation), 'changed_outside');
    }
  }
  return links;
}
