import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { ToolFailure } from '../../environments/define.ts';
import { LiveServiceError } from '../errors.ts';
import { type Space, TAG } from '../live-service.ts';
import type { Kept } from './kept.ts';
import { quoted, type Reader } from './reader.ts';
import { customFields, made, queueRecord, versionRecord, words } from './records.ts';
import { type RestOptions, type RestRequest, rest, wordsOf } from './rest.ts';
import { ASSIGNEE, isComment } from './view.ts';
import { priorityThere, statusThere } from './words.ts';

/** Tickets in one request: the server makes about four in a second. */
const AT_ONCE = 10;

/** Makes and ends queues and accounts of worlds, as the account whose token it has. */
export class Queues {
  private readonly options: RestOptions;
  private readonly reader: Reader;

  constructor(options: RestOptions, reader: Reader) {
    this.options = options;
    this.reader = reader;
  }

  private async version(): Promise<string> {
    const { Version } = await this.ask('asking for its version', { method: 'GET', path: '/rt' }, versionRecord);
    return `Request Tracker ${Version}`;
  }

  /** An account, a queue on which it alone has rights, and in it the tickets of the start with their comments. */
  async make({ name, password, until, actsFor, rows }: Omit<Space, 'kept'>, tables: Kept['tables']): Promise<Kept> {
    const version = await this.version();
    const over = until.toISOString();
    const account = { Name: name, RealName: actsFor, Password: password, Privileged: 1, Comments: `made by trialbed for one trial; of no use after ${over}` };
    await this.ask('making an account', { method: 'POST', path: '/user', body: account }, made);
    await this.ask('making a queue', { method: 'POST', path: '/queue', body: { Name: name, Description: `one trial of trialbed, until ${over}` } }, made);
    // Its rights are those that the role AdminCc has, and on this queue alone.
    await this.ask('giving the account its queue', { method: 'PUT', path: `/queue/${name}`, body: { AdminCc: [name] } }, words);
    const assignee = await this.assigneeField();
    const [tickets, comments] = await Promise.all([rows(tables.tickets), rows(tables.comments)]);
    const numbers = await this.makeTickets(name, tickets);
    await this.makeComments(numbers, comments);
    await this.setStates(numbers, tickets);
    const history = await this.reader.transactions(`TicketQueue = ${quoted(name)}`);
    return {
      ...{ version, tables, assignee, tickets: numbers.map(([here, there]) => [here, there] as [number, number]) },
      comments: pairComments(numbers, comments, history.filter(isComment)),
      after: history.at(-1)?.id ?? 0,
      at: history.at(-1)?.Created ?? new Date(0).toISOString(),
    };
  }

  async fence(name: string, drainMs: number): Promise<void> {
    await this.end('ending an account', `/user/${name}`);
    await pause(drainMs);
  }

  /** Nothing but what bears our tag. */
  async release(name: string): Promise<void> {
    if (!name.startsWith(TAG)) throw new LiveServiceError('cleaning up', `${name} is not a name of ours`);
    await this.end('ending an account', `/user/${name}`);
    if ((await this.queueOf(name)) === null) return;
    const tickets = await this.reader.tickets(`Queue = ${quoted(name)}`);
    const body = tickets.map(({ id }) => ({ id, Status: 'deleted' }));
    if (body.length > 0) await this.ask('deleting tickets', { method: 'PUT', path: '/tickets/bulk', body }, z.unknown());
    await this.end('ending a queue', `/queue/${name}`);
  }

  private async queueOf(name: string): Promise<number | null> {
    try {
      const { id, Name } = await rest(this.options, { method: 'GET', path: `/queue/${name}` }, queueRecord);
      return Name === name ? id : null;
    } catch (error) {
      if (error instanceof ToolFailure && error.code === 'not_found') return null;
      throw error;
    }
  }

  /** There may be none yet, where making it ended halfway. */
  private async end(what: string, path: string): Promise<void> {
    try {
      await rest(this.options, { method: 'PUT', path, body: { Disabled: 1 } }, words);
    } catch (error) {
      if (error instanceof ToolFailure && error.code === 'not_found') return;
      throw error instanceof ToolFailure ? new LiveServiceError(what, error.message) : error;
    }
  }

  private async assigneeField(): Promise<number> {
    const body = [{ field: 'Name', operator: '=', value: ASSIGNEE }];
    const { items } = await this.ask('looking for a field', { method: 'POST', path: '/customfields', query: { fields: 'Name' }, body }, customFields);
    const [field] = items;
    if (!field) throw new LiveServiceError('looking for a field', `there is no custom field of tickets that is called ${ASSIGNEE}`);
    return field.id;
  }

  private async makeTickets(queue: string, tickets: readonly JsonObject[]): Promise<readonly (readonly [number, number])[]> {
    const numbers: (readonly [number, number])[] = [];
    for (let at = 0; at < tickets.length; at += AT_ONCE) {
      const some = tickets.slice(at, at + AT_ONCE);
      const body = some.map((row) => ({
        ...{ Queue: queue, Subject: String(row['subject']), Content: String(row['body']), ContentType: 'text/plain', Requestor: String(row['requester']) },
        ...{ Status: 'open', Priority: priorityThere(String(row['priority'])) ?? 0 },
        ...(row['assignee'] != null && { CustomFields: { [ASSIGNEE]: String(row['assignee']) } }),
      }));
      const answers = await this.ask('making tickets', { method: 'POST', path: '/tickets/bulk', body }, z.array(z.unknown()));
      some.forEach((row, index) => {
        const ticket = made.safeParse(answers[index]);
        if (!ticket.success) throw new LiveServiceError(`making ticket ${String(row['id'])}`, wordsOf(answers[index]) ?? 'it gave no number');
        numbers.push([Number(row['id']), Number(ticket.data.id)]);
      });
    }
    return numbers;
  }

  private async makeComments(numbers: readonly (readonly [number, number])[], comments: readonly JsonObject[]): Promise<void> {
    const there = new Map(numbers);
    for (const comment of comments.toSorted((a, b) => Number(a['id']) - Number(b['id']))) {
      const path = `/ticket/${there.get(Number(comment['ticket_id'])) ?? 0}/${comment['public'] === true ? 'correspond' : 'comment'}`;
      await this.ask('adding a comment', { method: 'POST', path, body: { Content: String(comment['body']), ContentType: 'text/plain' } }, words);
    }
  }

  /** After the comments: a public one reopens a ticket that was solved. */
  private async setStates(numbers: readonly (readonly [number, number])[], tickets: readonly JsonObject[]): Promise<void> {
    const there = new Map(numbers);
    const ended = tickets.filter(({ status }) => status !== 'open');
    const body = ended.map(({ id, status }) => ({ id: there.get(Number(id)) ?? 0, Status: statusThere(String(status)) ?? 'open' }));
    if (body.length > 0) await this.ask('setting states', { method: 'PUT', path: '/tickets/bulk', body }, z.unknown());
  }

  /** What our own account is refused is no answer to an agent. */
  private async ask<S extends z.ZodType>(what: string, request: RestRequest, schema: S): Promise<z.output<S>> {
    try {
      return await rest(this.options, request, schema);
    } catch (error) {
      throw error instanceof ToolFailure ? new LiveServiceError(what, error.message) : error;
    }
  }
}

/** Comments of one ticket are made in the order of their numbers. */
function pairComments(
  numbers: readonly (readonly [number, number])[],
  comments: readonly JsonObject[],
  made: readonly { readonly id: number; readonly ObjectId: number }[],
): Kept['comments'] {
  return numbers.flatMap(([here, there]) => {
    const own = comments.filter((comment) => Number(comment['ticket_id']) === here).map(({ id }) => Number(id));
    const found = made.filter(({ ObjectId }) => ObjectId === there);
    return own.toSorted((a, b) => a - b).flatMap((id, index) => (found[index] ? [[id, found[index].id] as [number, number]] : []));
  });
}
