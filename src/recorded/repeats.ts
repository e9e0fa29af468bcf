import type { Effect } from '../domain/effect.ts';
import { dispatched } from '../domain/grading/dispatched.ts';
import type { Operation } from '../domain/operation.ts';
import type { TrialRecord } from '../domain/record.ts';
import type { Repeat } from '../domain/recorded.ts';
import { printable } from '../domain/text/bounded.ts';
import { canonicalText } from '../domain/text/canonical.ts';

/**
 * Writes of one tool with equal arguments after one of them had committed, from the ledger. Beside the grader's `repeated_write` these are also repeats that
 * the tool refused: an end state cannot show them, and against another system they might have acted twice.
 */
export function repeatsOf(record: TrialRecord): readonly { readonly kind: Repeat; readonly message: string }[] {
  const first = new Map<string, Operation>();
  const found: { kind: Repeat; message: string }[] = [];
  for (const operation of record.operations) {
    if (!dispatched(operation) || (operation.effect !== 'write' && operation.effect !== 'external')) continue;
    const call = `${JSON.stringify(operation.tool)} ${canonicalText(operation.args)}`;
    const earlier = first.get(call);
    if (earlier) {
      const kind = kindOf(operation, earlier, record.effects);
      found.push({
        kind,
        message: `${printable(operation.tool)} was called again with equal arguments (call ${operation.seq} after call ${earlier.seq}): ${WORDS[kind]}.`,
      });
    } else if (operation.known === 'committed') first.set(call, operation);
  }
  return found;
}

const WORDS: { readonly [kind in Repeat]: string } = {
  duplicate: 'it had its effect again',
  silent_overwrite: 'it told that it was done once more, and overwrote what was there with the same',
  refused_repeat: 'the tool refused it',
  idle_repeat: 'neither call changed anything',
};

function kindOf(again: Operation, earlier: Operation, effects: readonly Effect[]): Repeat {
  if (acted(again, effects)) return 'duplicate';
  if (!touched(earlier, effects)) return 'idle_repeat';
  return again.known === 'committed' && canonicalText(again.result) === canonicalText(earlier.result) ? 'silent_overwrite' : 'refused_repeat';
}

/** It wrote a row, if only what was there already; or it acted. */
function touched(operation: Operation, effects: readonly Effect[]): boolean {
  return acted(operation, effects) || effects.some((effect) => effect.kind === 'row' && effect.operation === operation.id);
}

/** It left a mail, or a row other than it was. */
function acted(operation: Operation, effects: readonly Effect[]): boolean {
  return effects.some(
    (effect) => effect.operation === operation.id && (effect.kind === 'mail' ? effect.accepted : canonicalText(effect.before) !== canonicalText(effect.after)),
  );
}
