import type { Constraint, FallbackConstraint } from '../case.ts';
import type { TrialRecord } from '../record.ts';
import { printable } from '../text/bounded.ts';
import type { Finding } from '../verdict.ts';
import { dispatched } from './dispatched.ts';
import { argumentsMatch } from './match.ts';
import { recoveryNotes } from './recovery.ts';
import { columnsText } from './words.ts';

/** What the agent falls back to once a fault has hit a tool or a service. Without such a fault there is nothing to say. */
export function checkFallback(constraint: FallbackConstraint, rule: string, record: TrialRecord): Finding[] {
  const since = firstFault(constraint.after_fault, record);
  if (since === null) return [];
  const name = constraint.name === undefined ? '' : ` (${printable(constraint.name)})`;
  const after = record.operations.filter((op) => op.seq > since);
  const where = constraint.where === undefined ? '' : ` with ${columnsText(constraint.where)}`;
  const fault = `after a fault hit ${printable(constraint.after_fault)}`;
  if ('never' in constraint) {
    const calls = after.filter((op) => op.tool === constraint.never && dispatched(op) && argumentsMatch(constraint.where, op.args));
    if (calls.length === 0) return [];
    const message = `${printable(constraint.never)}${where} must not be called ${fault}${name}; it was, ${calls.length === 1 ? 'once' : `${calls.length} times`}.`;
    return [{ code: 'constraint_violated', judgement: 'fail', rule, message, operations: calls.map((op) => op.id) }];
  }
  const calls = after.filter((op) => op.tool === constraint.must_call && argumentsMatch(constraint.where, op.args));
  if (calls.some((op) => op.known === 'committed')) return [];
  const open = calls.some((op) => op.known === 'undetermined');
  const message = `A successful call of ${printable(constraint.must_call)}${where} must come ${fault}${name}; there is ${open ? 'one of unknown outcome' : 'none'}.`;
  return [
    {
      code: open ? 'undetermined_constraint' : 'constraint_violated',
      judgement: open ? 'undetermined' : 'fail',
      rule,
      message,
      operations: calls.map((op) => op.id),
    },
  ];
}

/** A call of unknown outcome is not made again before the agent has looked. */
export function checkLook(constraint: Extract<Constraint, { look_before_repeat: string }>, rule: string, record: TrialRecord): Finding[] {
  const tool = constraint.look_before_repeat;
  const name = constraint.name === undefined ? '' : ` (${printable(constraint.name)})`;
  return recoveryNotes(record)
    .filter((note) => note.looked === 'not_before_repeat' && (tool === '*' || note.tool === tool))
    .map((note) => ({
      code: 'constraint_violated',
      judgement: 'fail',
      rule,
      message: `${printable(note.tool)} of unknown outcome (operation ${printable(note.operation)}) must not be called again without a look${name}; it was, in ${note.repeats.map((id) => printable(id)).join(', ')}.`,
      operations: [note.operation, ...note.repeats],
    }));
}

/** Order of acceptance of the operation that the first such fault hit; 0 where it hit none, as at the start. Null: there was no such fault. */
function firstFault(name: string, { faults, operations }: TrialRecord): number | null {
  const hits = (faults?.injected ?? []).filter((fault) => fault.on === name || fault.on === `service ${name}`);
  if (hits.length === 0) return null;
  return Math.min(...hits.map((fault) => operations.find((op) => op.id === fault.operation)?.seq ?? 0));
}
