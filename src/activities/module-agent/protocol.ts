import { z } from 'zod';

/** Where the agent's process finds its channel to the host: one JSON message a line, both ways. */
export const CHANNEL_FD = 3;

/** Longest text with which an agent's error is told; in UTF-16 units. */
export const MAX_ERROR_LENGTH = 4_000;

/** What an agent's process says to its host, one JSON message each. Everything in it is the agent's and not to be trusted. */
export const childMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({
    type: z.literal('call'),
    n: z.int().nonnegative(),
    tool: z.string().max(1000),
    args: z.unknown(),
    // What a key may be is for the door to say, as an answer to the call.
    idempotencyKey: z.string().max(10_000).nullable(),
  }),
  z.strictObject({ type: z.literal('receive'), n: z.int().nonnegative() }),
  z.strictObject({ type: z.literal('reply'), n: z.int().nonnegative(), text: z.string().max(1_000_000), data: z.record(z.string(), z.json()).nullable() }),
  z.strictObject({ type: z.literal('done') }),
  z.strictObject({ type: z.literal('error'), message: z.string().max(MAX_ERROR_LENGTH) }),
]);

export type ChildMessage = z.output<typeof childMessage>;

/** What the host says to the agent's process. */
export type HostMessage =
  | {
      readonly type: 'start';
      readonly file: string;
      readonly session: { readonly instructions: string; readonly tools: readonly unknown[]; readonly parameters: unknown; readonly services: unknown };
    }
  | { readonly type: 'answer'; readonly n: number; readonly value: unknown };
