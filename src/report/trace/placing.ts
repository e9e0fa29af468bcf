import { type Effect, WHILE_WAITING } from '../../domain/effect.ts';
import type { DrawnRule, InjectedFault } from '../../domain/fault.ts';
import type { Operation } from '../../domain/operation.ts';
import type { TrialRecord } from '../../domain/record.ts';

/** What no call of the agent's did, or a fault that met none, and where it belongs. */
export interface Outsider {
  readonly by: 'fault' | 'approver' | 'unattributed' | null;
  readonly fault: InjectedFault | null;
  /** In journal order; empty where a fault changed nothing. */
  readonly effects: readonly Effect[];
  /** Place in the operations, from 0: it came before that one; as many as there are: after the last. */
  readonly before: number;
  /** The operation that it hit, or that waited for an approval meanwhile. */
  readonly hit: string | null;
  /** See {@link TraceStep.placed}. */
  readonly placed: boolean;
}

/** All that happened beside the agent's calls, in order. `operations` are in the order of their acceptance. */
export function outsidersOf({ effects, faults }: Pick<TrialRecord, 'effects' | 'faults'>, operations: readonly Operation[]): Outsider[] {
  const known = new Map(operations.map(({ id }, at) => [id, at]));
  const injected = [...(faults?.injected ?? [])];
  const rules = new Map((faults?.rules ?? []).map((rule) => [rule.index, rule]));
  const found: Outsider[] = burstsOf(effects, known).map((burst) => {
    const [first] = burst;
    const bounds = boundsOf(first?.seq ?? 0, effects, known);
    if (first?.byFault === undefined)
      return { by: 'unattributed', fault: null, effects: burst, before: bounds.from, hit: null, placed: bounds.from === bounds.to };
    if (first.byFault === WHILE_WAITING) return whileWaiting(burst, bounds, operations);
    const fault = takeFault(injected, first.byFault, bounds, known);
    return { by: 'fault', fault, effects: burst, ...placeOf(fault, rules, bounds, known) };
  });
  const alone = injected.filter(({ operation }) => operation === null || !known.has(operation));
  return [...found, ...alone.map((fault) => withoutCall(fault, operations))].sort((a, b) => a.before - b.before);
}

/** What a call of the agent's caused; a mail that a fault delivered once more came of the call too. */
export function isOwn(effect: Effect, known: { has(operation: string): boolean }): boolean {
  return effect.operation !== null && known.has(effect.operation) && (effect.byFault === undefined || effect.kind === 'mail');
}

/** Changes by the same hand with nothing of the agent's calls between them are one thing that happened. */
function burstsOf(effects: readonly Effect[], known: ReadonlyMap<string, number>): Effect[][] {
  const bursts: Effect[][] = [];
  let open: Effect | null = null;
  for (const effect of [...effects].sort((a, b) => a.seq - b.seq)) {
    if (isOwn(effect, known)) {
      open = null;
      continue;
    }
    if (open !== null && open.byFault === effect.byFault && open.at === effect.at) bursts.at(-1)?.push(effect);
    else bursts.push([effect]);
    open = effect;
  }
  return bursts;
}

interface Bounds {
  /** It came after every operation before `from`, and before the one at `to`. */
  readonly from: number;
  readonly to: number;
}

/** Between which operations the order of the journal puts an entry. Calls that change nothing leave no trace in it. */
function boundsOf(seq: number, effects: readonly Effect[], known: ReadonlyMap<string, number>): Bounds {
  let from = 0;
  let to = known.size;
  for (const effect of effects) {
    const at = effect.operation === null ? undefined : known.get(effect.operation);
    if (at === undefined || !isOwn(effect, known)) continue;
    if (effect.seq < seq) from = Math.max(from, at + 1);
    else to = Math.min(to, at);
  }
  return { from, to: Math.max(from, to) };
}

/** The first injection of the rule that the journal's order leaves open; it is taken. */
function takeFault(injected: InjectedFault[], rule: number, { from }: Bounds, known: ReadonlyMap<string, number>): InjectedFault | null {
  const candidates = injected.filter((fault) => fault.rule === rule);
  const placeOfFault = (fault: InjectedFault) => (fault.operation === null ? -1 : (known.get(fault.operation) ?? -1));
  const taken = candidates.find((fault) => placeOfFault(fault) + 1 >= from) ?? candidates.at(-1);
  if (taken === undefined) return null;
  injected.splice(injected.indexOf(taken), 1);
  return taken;
}

function placeOf(
  fault: InjectedFault | null,
  rules: ReadonlyMap<number, DrawnRule>,
  bounds: Bounds,
  known: ReadonlyMap<string, number>,
): Pick<Outsider, 'before' | 'hit' | 'placed'> {
  if (fault?.on === 'start') return { before: 0, hit: null, placed: true };
  const at = fault?.operation == null ? undefined : known.get(fault.operation);
  if (fault === null || at === undefined) return { before: bounds.from, hit: null, placed: bounds.from === bounds.to };
  const what = rules.get(fault.rule)?.fault;
  const after = what?.kind === 'concurrent_change' && what.when === 'after';
  return { before: after ? at + 1 : at, hit: fault.operation, placed: true };
}

/** The case's approver lets somebody else change the world while a request waits. */
function whileWaiting(effects: readonly Effect[], { from, to }: Bounds, operations: readonly Operation[]): Outsider {
  const at = operations.findIndex((operation, place) => place >= from && operation.approval !== undefined);
  const hit = operations[at]?.id ?? null;
  return { by: 'approver', fault: null, effects, before: hit === null ? from : at, hit, placed: hit !== null || from === to };
}

/** A fault that met an agent's own client, or the start: by the world's clock. */
function withoutCall(fault: InjectedFault, operations: readonly Operation[]): Outsider {
  const start = fault.on === 'start';
  const later = operations.findIndex(({ at }) => at > fault.at);
  const before = start ? 0 : later < 0 ? operations.length : later;
  return { by: null, fault, effects: [], before, hit: null, placed: start || before === 0 };
}
