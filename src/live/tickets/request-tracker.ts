import type { WorldTickets } from '../../environments/define.ts';
import { repeatable } from '../errors.ts';
import type { LiveService } from '../live-service.ts';
import { ticketDesk } from './desk.ts';
import { effectsOf } from './effects.ts';
import { type Kept, startOf } from './kept.ts';
import { Queues } from './queue.ts';
import { quoted, Reader } from './reader.ts';
import { isComment } from './view.ts';

export interface RequestTrackerOptions {
  readonly address: string;
  /** Token of an account that may make accounts and queues. */
  readonly secret: string;
  /** The world's tables of the start. */
  readonly tables: Kept['tables'];
}

/** Request Tracker 5 as a ticket service: each world has an account and a queue of its own. */
export function requestTracker({ address, secret, tables }: RequestTrackerOptions): LiveService<WorldTickets> {
  const rest = { address, authorization: `token ${secret}` };
  const reader = new Reader(rest);
  const queues = new Queues(rest, reader);
  return {
    provision: async (space) => JSON.parse(JSON.stringify(await repeatable(() => queues.make(space, tables)))),
    client(space, { signal }, log) {
      const authorization = `Basic ${Buffer.from(`${space.name}:${space.password}`).toString('base64')}`;
      return ticketDesk(space, { address, authorization, signal }, log);
    },
    fence: ({ name }, { drainMs }) => repeatable(() => queues.fence(name, drainMs)),
    observe: (space, requests) =>
      repeatable(async () => {
        const start = await startOf(space);
        const all = await reader.transactions(`TicketQueue = ${quoted(space.name)} AND id > ${start.kept.after}`);
        const transactions = all.filter(({ id }) => id > start.kept.after);
        const touched = [...new Set(transactions.map(({ ObjectId }) => ObjectId))];
        const tickets = (await reader.tickets(`Queue = ${quoted(space.name)}`)).filter(({ id }) => touched.includes(id));
        const contents = new Map<number, string>();
        const written = new Set(transactions.flatMap((one) => (isComment(one) || one.Type === 'Create' ? [one.ObjectId] : [])));
        for (const ticket of written) for (const [id, text] of await reader.contents(ticket)) contents.set(id, text);
        const viewer = { start, shiftMs: space.shiftMs, account: space.name, actsFor: space.actsFor };
        const seen = { transactions, tickets: new Map(tickets.map((record) => [record.id, record])), contents };
        return { ...effectsOf(viewer, seen, requests), version: start.kept.version };
      }),
    release: (name) => repeatable(() => queues.release(name)),
  };
}
