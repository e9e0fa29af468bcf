import type { Json } from '../../domain/json.ts';
import type { Trace } from './trace.ts';

/** How much of each foreign text a page shows, in characters: the longer a trial, the less. What is cut is told with its length. */
export interface Room {
  /** Of arguments, results, messages, mails. */
  readonly text: number;
  /** Of a value of a row. */
  readonly value: number;
}

/** Widest first. */
const ROOMS: readonly Room[] = [
  { text: 16_000, value: 2_000 },
  { text: 4_000, value: 600 },
  { text: 1_200, value: 240 },
  { text: 400, value: 120 },
  { text: 120, value: 60 },
];

/** Bytes of a page, beyond which it is made once more with less room. */
export const MAX_BYTES = 4_800_000;

/**
 * The rooms in which a trace may fit, widest first: those are left out in which its long texts alone would fill the page. A text that stands in a pane too counts twice.
 */
export function roomsFor({ steps, models }: Pick<Trace, 'steps' | 'models'>): readonly Room[] {
  const lengths = [
    ...steps.flatMap(({ operation, messages, mails }) => [
      ...(operation === null ? [] : [operation.args, operation.result].map(lengthOf)),
      ...messages.flatMap(({ text }) => [text.length, text.length]),
      ...mails.flatMap(({ text }) => [text.length, text.length]),
    ]),
    ...models.entries.map(({ body }) => lengthOf(body)),
  ];
  const fits = ({ text }: Room) => lengths.reduce((sum, length) => sum + Math.min(length, text), 0) <= MAX_BYTES;
  const first = ROOMS.findIndex(fits);
  return first < 0 ? ROOMS.slice(-1) : ROOMS.slice(first);
}

function lengthOf(value: Json): number {
  return JSON.stringify(value).length;
}
