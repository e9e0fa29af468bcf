import type { Message, TrialRecord } from '../../domain/record.ts';
import { printable } from '../../domain/text/bounded.ts';

/** What both agents did at one place: the same call of both side by side, what only one did by itself. */
export interface TimelineRow {
  readonly a: TimelineStep | null;
  readonly b: TimelineStep | null;
}

export interface TimelineStep {
  readonly kind: 'call' | 'answer';
  /** Of the operation; null for an answer. */
  readonly operation: string | null;
  /** Tool and arguments, or what was said. Bounded; not escaped for any terminal or page. */
  readonly text: string;
  /** What the agent was told, and what the systems of record know where that differs; the fault that hit it. */
  readonly state: string | null;
  readonly fault: string | null;
}

/** What is read of a trial. */
export interface TimelineSource {
  readonly record: Pick<TrialRecord, 'operations' | 'faults'> | null;
  readonly messages: readonly Pick<Message, 'from' | 'text'>[];
}

/** Puts two trials side by side: equal calls, by tool and arguments, meet in the order in which both made them. */
export function sideBySide(a: TimelineSource, b: TimelineSource): readonly TimelineRow[] {
  const [left, right] = [stepsOf(a), stepsOf(b)];
  const rows: TimelineRow[] = [];
  let [i, j] = [0, 0];
  for (const [at, other] of common(left, right)) {
    while (i < at) rows.push({ a: left[i++] ?? null, b: null });
    while (j < other) rows.push({ a: null, b: right[j++] ?? null });
    rows.push({ a: left[i++] ?? null, b: right[j++] ?? null });
  }
  while (i < left.length) rows.push({ a: left[i++] ?? null, b: null });
  while (j < right.length) rows.push({ a: null, b: right[j++] ?? null });
  return rows;
}

/** Steps of one trial that are put side by side; the table of pairs grows with its square. */
const MAX_STEPS = 60;
const MAX_TEXT = 300;

function stepsOf({ record, messages }: TimelineSource): readonly TimelineStep[] {
  const injected = Map.groupBy(record?.faults?.injected ?? [], ({ operation }) => operation);
  const calls = (record?.operations ?? []).slice(0, MAX_STEPS).map((operation): TimelineStep => {
    const { id, tool, args, told, known } = operation;
    const faults = (injected.get(id) ?? []).map(({ kind }) => kind).join(', ');
    const differs = (told === 'unknown' || told === 'committed' || told === 'failed') && told !== known;
    return {
      kind: 'call',
      operation: id,
      text: printable(`${tool} ${JSON.stringify(args)}`, MAX_TEXT),
      state: differs ? `${told} (known: ${known})` : told,
      fault: faults === '' ? null : faults,
    };
  });
  const answers = messages
    .filter(({ from }) => from === 'agent')
    .slice(-1)
    .map(({ text }): TimelineStep => ({ kind: 'answer', operation: null, text: printable(text, MAX_TEXT), state: null, fault: null }));
  return [...calls, ...answers];
}

/** Places of a longest common subsequence (Wagner and Fischer, 1974). Answers meet whatever was said. */
function common(a: readonly TimelineStep[], b: readonly TimelineStep[]): readonly (readonly [number, number])[] {
  const same = (i: number, j: number): boolean => {
    const [one, other] = [a[i], b[j]];
    return one !== undefined && other !== undefined && one.kind === other.kind && (one.kind === 'answer' || one.text === other.text);
  };
  const width = b.length + 1;
  const lengths = new Array<number>((a.length + 1) * width).fill(0);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) lengths[i * width + j] = same(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const places: (readonly [number, number])[] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; )
    if (same(i, j)) places.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  return places;
}
