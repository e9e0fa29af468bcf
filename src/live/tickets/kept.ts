import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import type { Space } from '../live-service.ts';
import { numberHere, numberThere } from './words.ts';

const pairs = z.array(z.tuple([z.number(), z.number()]));

/** What is kept of a world's queue: which ticket of the start is which there, and where the start ended. */
export const keptSchema = z.object({
  version: z.string(),
  tables: z.object({ tickets: z.string(), comments: z.string() }),
  /** Number of the field that says whom a ticket is assigned to. */
  assignee: z.number(),
  /** Numbers here and there. */
  tickets: pairs,
  comments: pairs,
  /** Last transaction of the start, and when it was made. */
  after: z.number(),
  at: z.string(),
});
export type Kept = z.output<typeof keptSchema>;

/** A world's queue with the rows of its start. */
export interface Start {
  readonly kept: Kept;
  /** By their numbers there. */
  readonly tickets: ReadonlyMap<number, JsonObject>;
  /** By the transactions that they are there. */
  readonly comments: ReadonlyMap<number, JsonObject>;
  here(ticket: number): number;
  /** Null: there is no such ticket in the queue. */
  there(ticket: number): number | null;
}

export async function startOf({ kept: stored, rows }: Pick<Space, 'kept' | 'rows'>): Promise<Start> {
  const kept = keptSchema.parse(stored);
  const [tickets, comments] = await Promise.all([rows(kept.tables.tickets), rows(kept.tables.comments)]);
  const numbersHere = new Map(kept.tickets.map(([here, there]) => [there, here]));
  const numbersThere = new Map(kept.tickets);
  return {
    kept,
    tickets: byThere(tickets, kept.tickets),
    comments: byThere(comments, kept.comments),
    here: (ticket) => numbersHere.get(ticket) ?? numberHere(ticket),
    there: (ticket) => numbersThere.get(ticket) ?? numberThere(ticket),
  };
}

function byThere(rows: readonly JsonObject[], numbers: Kept['tickets']): ReadonlyMap<number, JsonObject> {
  const byNumber = new Map(rows.map((row) => [Number(row['id']), row]));
  return new Map(
    numbers.flatMap(([here, there]) => {
      const row = byNumber.get(here);
      return row ? [[there, row] as const] : [];
    }),
  );
}
