import type { Json } from '../json.ts';
import type { Operation } from '../operation.ts';
import type { HandOver, RecordedFaults, TrialRecord } from '../record.ts';
import { isList, isObject, printable } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import type { Diagnostics } from '../verdict.ts';
import { sameRow } from './net.ts';

/** Counts that help to understand a trial and never decide it. */
export function diagnosticsOf(record: TrialRecord): Diagnostics {
  const { operations, effects, tables } = record;
  const byTool = new Map<string, number>();
  const seen = new Set<string>();
  let repeated = 0;
  for (const op of operations) {
    const tool = printable(op.tool, 128);
    byTool.set(tool, (byTool.get(tool) ?? 0) + 1);
    const call = `${JSON.stringify(op.tool)} ${canonicalText(op.args)}`;
    if (seen.has(call)) repeated++;
    seen.add(call);
  }
  const real = effects.filter(
    (effect) => effect.byFault === undefined && (effect.kind === 'mail' ? effect.accepted : !sameRow(effect.table, effect.before, effect.after, tables)),
  );
  const effective = new Set(real.map((effect) => effect.operation));
  const own = new Set(operations.map(({ id }) => id));
  const foreign = real.filter(({ operation }) => operation !== null && !own.has(operation)).length;
  const count = (test: (op: Operation) => boolean): number => operations.filter(test).length;
  return {
    calls: operations.length,
    callsByTool: Object.fromEntries(byTool),
    rejectedCalls: count((op) => op.told === 'rejected'),
    unknownTools: count((op) => op.problem?.code === 'unknown_tool'),
    invalidArguments: count((op) => op.problem?.code === 'invalid_args'),
    deniedCalls: count((op) => op.told === 'denied'),
    repeatedCalls: repeated,
    emptyRetrievals: count((op) => op.effect === 'read' && op.told === 'committed' && isEmpty(op.result)),
    noOpWrites: count((op) => (op.effect === 'write' || op.effect === 'external') && op.known === 'committed' && !effective.has(op.id)),
    unattributedEffects: real.filter((effect) => effect.operation === null).length,
    ...(foreign > 0 && { foreignEffects: foreign }),
    lateAttempts: record.lateAttempts.length,
    disturbed: operations.some((op) => op.disturbed),
    ...(record.handOvers && delegation(record.handOvers, operations)),
    ...(record.faults && record.faults.rules.length > 0 && { injectedFaults: record.faults.injected.length, unfiredRules: unfired(record.faults) }),
  };
}

/** Who acted, and how often the conversation went to and fro. */
function delegation(
  handOvers: readonly HandOver[],
  operations: readonly Operation[],
): Pick<Diagnostics, 'callsByActor' | 'handOvers' | 'repeatedHandOvers' | 'handOversByActor'> {
  const ways = new Set(handOvers.map(({ from, to }) => JSON.stringify([from, to])));
  return {
    callsByActor: countsOf(operations.flatMap(({ actor }) => actor ?? [])),
    handOvers: handOvers.length,
    repeatedHandOvers: handOvers.length - ways.size,
    handOversByActor: countsOf(handOvers.map(({ from }) => from)),
  };
}

function countsOf(names: readonly string[]): { readonly [name: string]: number } {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function unfired({ rules, injected }: RecordedFaults): number[] {
  const fired = new Set(injected.map((fault) => fault.rule));
  return rules.map((rule) => rule.index).filter((rule) => !fired.has(rule));
}

/** Nothing was found: null, an empty list or object, or an object whose members are all lists and all empty. */
function isEmpty(result: Json | null): boolean {
  if (result === null) return true;
  if (isList(result)) return result.length === 0;
  if (!isObject(result)) return false;
  const lists = Object.values(result).filter((value) => isList(value));
  return Object.keys(result).length === 0 || (lists.length > 0 && lists.every((list) => isList(list) && list.length === 0));
}
