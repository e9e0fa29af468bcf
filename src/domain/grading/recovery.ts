import type { Json } from '../json.ts';
import type { Operation } from '../operation.ts';
import type { TrialRecord } from '../record.ts';
import { isList, isObject, printable } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import type { Finding, RecoveryNote } from '../verdict.ts';

/**
 * How the agent went on after each write of unknown outcome: whether it looked before it called again, how often the effect is there in the end, and whether it
 * came to know. Part of the verdict only through what it led to (a doubled effect, a false claim) and through a case's own constraint.
 */
export function recoveryNotes(record: TrialRecord): RecoveryNote[] {
  return unknownWrites(record)
    .slice(0, MAX_NOTES)
    .map((op) => {
      const repeats = repeatsOf(op, record);
      const [first] = repeats;
      const committed = [op, ...repeats].filter((one) => one.known === 'committed').length;
      return {
        operation: op.id,
        tool: printable(op.tool, 128),
        known: op.known,
        repeats: repeats.map((one) => one.id),
        looked: first === undefined ? (lookedAfter(op, record) ? 'later' : 'never') : lookedBetween(op, first, record) ? 'before_repeat' : 'not_before_repeat',
        committed,
        learned: learned(op, record),
      };
    });
}

/** Repeats without a look, as remarks: what they doubled is judged by the end state, and a case may ask for the look itself (`look_before_repeat`). */
export function recoveryFindings(record: TrialRecord): Finding[] {
  return recoveryNotes(record)
    .filter((note) => note.looked === 'not_before_repeat')
    .map((note) => {
      const doubled = note.committed > 1;
      const repeats = note.repeats.map((id) => printable(id)).join(', ');
      const what = `The outcome of ${printable(note.tool)} (operation ${printable(note.operation)}) was unknown, and it was called again (${repeats}) without a look`;
      return {
        code: 'blind_repeat',
        judgement: 'pass' as const,
        rule: 'recovery',
        message: doubled ? `${what}; its effect is there ${note.committed} times.` : `${what}; it did no harm here.`,
        operations: [note.operation, ...note.repeats],
      };
    });
}

/** Whether the agent could know, in the end, how an operation ended of which it was told that its outcome is unknown. */
export function learned(op: Operation, record: TrialRecord): boolean {
  return op.reconciled != null || repeatsOf(op, record).some((one) => one.told === 'committed') || lookedAfter(op, record);
}

/** More than a person reads. */
const MAX_NOTES = 50;

/** Writes of which the agent was told that their outcome is unknown; a replay by key is none of its own. */
function unknownWrites({ operations }: TrialRecord): Operation[] {
  return operations.filter((op) => op.told === 'unknown' && (op.effect === 'write' || op.effect === 'external') && op.replayOf == null);
}

/**
 * Later calls of the same tool that do the same, in whatever words, up to the first that committed: what the agent asks for after that is another matter. With the
 * same key they are the same operation, and none of these.
 */
function repeatsOf(op: Operation, { operations }: TrialRecord): Operation[] {
  const intent = intentOf(op.args);
  const later = operations.filter(
    (one) =>
      one.seq > op.seq && one.tool === op.tool && one.position !== null && one.replayOf == null && one.told !== 'rejected' && intentOf(one.args) === intent,
  );
  const settled = later.findIndex((one) => one.told === 'committed');
  return settled < 0 ? later : later.slice(0, settled + 1);
}

function lookedBetween(op: Operation, repeat: Operation, record: TrialRecord): boolean {
  return looks(record).some((look) => look.seq > op.seq && look.seq < repeat.seq);
}

function lookedAfter(op: Operation, record: TrialRecord): boolean {
  return looks(record).some((look) => look.seq > op.seq);
}

/** Reads that told something. Waiting and handing over tell nothing, and the user does not know the systems of record. */
function looks({ operations, faults, handOvers = [] }: TrialRecord): Operation[] {
  const tellNothing = new Set([faults?.runtime.wait, faults?.runtime.ask]);
  const handed = new Set(handOvers.map(({ operation }) => operation));
  return operations.filter((op) => op.effect === 'read' && op.told === 'committed' && !tellNothing.has(op.tool) && !handed.has(op.id));
}

/** Arguments without free text: two calls with equal ones mean the same thing, however it is worded. */
function intentOf(args: Json): string {
  return canonicalText(withoutProse(args));
}

function withoutProse(value: Json): Json {
  if (typeof value === 'string') return /\s/.test(value.trim()) ? '' : value;
  if (isList(value)) return value.map((item) => withoutProse(item));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutProse(part)]));
  return value;
}
