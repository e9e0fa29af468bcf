/** How much of each foreign text a page shows, in characters: the longer a trial, the less. What is cut is told with its length. */
export interface Room {
  /** Of arguments, results, messages, mails. */
  readonly text: number;
  /** Of a value of a row. */
  readonly value: number;
}

/** Widest first. */
export const ROOMS: readonly [Room, ...Room[]] = [
  { text: 16_000, value: 2_000 },
  { text: 4_000, value: 600 },
  { text: 1_200, value: 240 },
  { text: 400, value: 120 },
  { text: 120, value: 60 },
];

/** Bytes of a page, beyond which it is made once more with less room. */
export const MAX_BYTES = 4_800_000;
