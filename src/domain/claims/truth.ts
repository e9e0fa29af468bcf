import type { AssertedState, Claim, EffectPattern } from '../case.ts';
import { dispatched } from '../grading/dispatched.ts';
import { learned } from '../grading/recovery.ts';
import { mismatches } from '../grading/match.ts';
import { type NetChanges, netEffects } from '../grading/net.ts';
import { describePattern, roomOf } from '../grading/slots.ts';
import type { Operation } from '../operation.ts';
import type { TrialRecord } from '../record.ts';
import { printable } from '../text/bounded.ts';

/** What an answer may rightly say about an effect. A state in neither list is false. */
export interface Truth {
  readonly right: readonly AssertedState[];
  /** Neither right nor wrong, as far as the world shows. */
  readonly open: readonly AssertedState[];
  readonly because: string;
}

/**
 * What the world shows of an effect claim; null when the claim names neither an effect nor a state.
 *
 * The effect is there: `done` is right; where the agent was told that the operation's outcome is unknown, only `unknown` is, until a look or a later call told it
 * better. It is not there: `not_done` is right; `unknown`
 * too, where an operation ended so for the agent and no later equal call settled it. Where nobody knows the outcome of an operation, only `unknown` is right and
 * `not_done` cannot be judged.
 */
export function truthOf(claim: Extract<Claim, { claim: 'effect' }>, record: TrialRecord, changes: NetChanges): Truth | null {
  if (claim.effect === undefined)
    return claim.state === undefined ? null : { right: [claim.state], open: [], because: `the case says that it is ${stateWords(claim.state)}` };
  const pattern = claim.effect;
  const found = changes.effects.filter((effect) => mismatches(pattern, effect, { tables: record.tables })?.length === 0);
  if (found.length > 0 && found.length >= roomOf(pattern.count, 1).min) {
    const operations = new Set(found.flatMap((effect) => effect.operations));
    const unsure = record.operations.filter((op) => operations.has(op.id) && op.told === 'unknown');
    const shown = `the world shows ${describePattern(pattern)}`;
    const guessed = unsure.find((op) => !learned(op, record));
    if (guessed) return { right: ['unknown'], open: [], because: `the agent was told that the outcome of ${name(guessed)} is unknown, and did not look` };
    return { right: unsure.some((op) => op.reconciled == null) ? ['done', 'unknown'] : ['done'], open: [], because: shown };
  }
  if (shownByOthers(pattern, record)) return { right: ['done', 'not_done'], open: [], because: `${describePattern(pattern)} is there by somebody else's hand` };
  const writes = record.operations.filter((op) => op.effect !== 'read' && dispatched(op));
  const open = writes.find((op) => op.known === 'undetermined');
  if (open !== undefined) return { right: ['unknown'], open: ['not_done'], because: `nobody knows whether ${name(open)} had its effect` };
  const unsure = writes.find((op) => op.told === 'unknown' && op.known === 'failed');
  if (unsure !== undefined)
    return {
      right: ['not_done', 'unknown'],
      open: [],
      because: `the world does not show ${describePattern(pattern)}, and the agent was told that the outcome of ${name(unsure)} is unknown`,
    };
  return { right: ['not_done'], open: [], because: `the world does not show ${describePattern(pattern)}` };
}

/** Somebody else did it, as a fault schedule says: that it is done is true, and that the agent did not do it. */
function shownByOthers(pattern: EffectPattern, { effects, tables }: TrialRecord): boolean {
  const others = effects.flatMap(({ byFault, ...effect }) => (byFault === undefined || effect.kind === 'mail' ? [] : [effect]));
  return netEffects(others, tables).some((effect) => mismatches(pattern, effect, { tables })?.length === 0);
}

/** A state as people say it. */
export function stateWords(state: AssertedState): string {
  return { done: 'done', not_done: 'not done', unknown: 'of unknown outcome' }[state];
}

function name(operation: Operation): string {
  return `${printable(operation.tool)} (operation ${printable(operation.id)})`;
}
