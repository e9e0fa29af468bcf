import type { JsonObject } from '../../domain/json.ts';
import { ToolFailure, type WorldTickets } from '../../environments/define.ts';
import { NewComment, NewTicket, PageQuery, parse, TicketChange, TicketQuery } from '../../environments/tickets/schema.ts';
import { TicketProblem } from '../../environments/tickets/problem.ts';
import { LiveUnreachableError } from '../errors.ts';
import type { Space } from '../live-service.ts';
import { type Start, startOf } from './kept.ts';
import { quoted, Reader } from './reader.ts';
import type { TicketRecord } from './records.ts';
import type { RestOptions } from './rest.ts';
import { commentView, isComment, ticketView, type Viewer } from './view.ts';
import { statusThere } from './words.ts';
import { Writer, type WriterParts } from './writer.ts';

/** Bodies that are read at once: the server has few workers. */
const AT_ONCE = 2;

/**
 * The contract of the ticket service over a queue of Request Tracker: the same paths, bodies and refusals that the fixture has.
 *
 * What differs and cannot be hidden: a text of a ticket cannot be changed; a public comment reopens a ticket that was solved or closed; priorities and states that the
 * contract does not have read as the nearest one, or by their own name.
 */
export function ticketDesk(space: Space, rest: RestOptions, log: WriterParts['log']): WorldTickets {
  const reader = new Reader(rest);
  let started: Promise<Viewer> | null = null;
  const viewer = (): Promise<Viewer> => {
    started ??= startOf(space).then((start) => ({ start, shiftMs: space.shiftMs, account: space.name, actsFor: space.actsFor }));
    return started;
  };
  const desk = { space, reader, rest, log };
  return {
    url: `${rest.address}/REST/2.0`,
    headers: { authorization: rest.authorization },
    async request(method, path, body) {
      try {
        return await route(desk, await viewer(), { method, url: new URL(path, 'http://desk'), body: body ?? {} });
      } catch (error) {
        if (error instanceof TicketProblem) throw new ToolFailure(error.status === 405 ? 'invalid' : error.code, error.message);
        if (error instanceof LiveUnreachableError) throw new ToolFailure('unavailable', 'The ticket system cannot be reached; nothing was sent.');
        throw error;
      }
    },
  };
}

interface Desk extends WriterParts {
  readonly space: Space;
  readonly reader: Reader;
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: JsonObject;
}

async function route(desk: Desk, viewer: Viewer, { method, url, body }: Asked): Promise<JsonObject> {
  const [, , number, comments] = /^\/tickets(\/([^/]+))?(\/comments)?$/.exec(url.pathname) ?? [undefined, undefined, undefined, undefined];
  const query = Object.fromEntries(url.searchParams);
  const writer = new Writer(desk, viewer);
  if (url.pathname === '/tickets' && method === 'GET') return search(desk, viewer, parse(TicketQuery, query, 400));
  if (url.pathname === '/tickets' && method === 'POST') return shown(desk, viewer, await writer.create(parse(NewTicket, body, 422)));
  if (number === undefined) throw new TicketProblem(404, 'not_found', 'there is no such resource');
  const id = existing(viewer.start, number);
  if (comments) {
    if (method === 'GET') return list(desk, viewer, id, parse(PageQuery, query, 400));
    if (method === 'POST') return writer.comment(id, parse(NewComment, body, 422));
  } else {
    if (method === 'GET') return shown(desk, viewer, id);
    if (method === 'PATCH') return change(desk, viewer, id, parse(TicketChange, body, 422));
  }
  throw new TicketProblem(405, 'method_not_allowed', `${method} is not for ${url.pathname}`);
}

async function change(
  desk: Desk,
  viewer: Viewer,
  id: number,
  { if_updated_at: expected, ...changes }: ReturnType<typeof TicketChange.parse>,
): Promise<JsonObject> {
  if (changes.body !== undefined) throw new TicketProblem(422, 'invalid', 'the text of a ticket cannot be changed here; add a comment');
  const before = await shown(desk, viewer, id);
  if (expected !== undefined && Date.parse(String(before['updated_at'])) !== Date.parse(expected))
    throw new TicketProblem(409, 'conflict', `the ticket was changed since ${expected}; read it and try again`);
  await new Writer(desk, viewer).change(id, changes);
  return shown(desk, viewer, id);
}

async function search({ space, reader }: Desk, viewer: Viewer, query: ReturnType<typeof TicketQuery.parse>): Promise<JsonObject> {
  const status = query.status === undefined ? null : statusThere(query.status);
  if (query.status !== undefined && status === null) return pageOf([], 'tickets', query);
  const conditions = [
    `Queue = ${quoted(space.name)}`,
    ...(status === 'open' ? ["(Status = 'open' OR Status = 'new')"] : status === null ? [] : [`Status = ${quoted(status)}`]),
    ...(query.requester === undefined ? [] : [`Requestor.EmailAddress = ${quoted(query.requester)}`]),
  ];
  const found = await reader.tickets(conditions.join(' AND '));
  const views = await viewsOf(reader, viewer, space.name, found);
  const text = query.q?.toLowerCase();
  const fits = (view: JsonObject) => text === undefined || `${view['subject']}\n${view['body']}`.toLowerCase().includes(text);
  return pageOf(views.filter(fits).toSorted(byAge), 'tickets', query);
}

async function viewsOf(reader: Reader, viewer: Viewer, queue: string, found: readonly TicketRecord[]): Promise<JsonObject[]> {
  if (found.length === 0) return [];
  const created = await reader.transactions(`TicketQueue = ${quoted(queue)} AND Type = 'Create'`);
  const views: JsonObject[] = [];
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE).map(async (record) => {
      const first = created.find(({ ObjectId }) => ObjectId === record.id);
      const contents = await reader.contents(record.id);
      return ticketView(viewer, record, (first && contents.get(first.id)) ?? '');
    });
    views.push(...(await Promise.all(some)));
  }
  return views;
}

async function shown({ space, reader }: Desk, viewer: Viewer, id: number): Promise<JsonObject> {
  const [view] = await viewsOf(reader, viewer, space.name, [await reader.ticket(id)]);
  return view ?? {};
}

async function list({ space, reader }: Desk, viewer: Viewer, id: number, query: ReturnType<typeof PageQuery.parse>): Promise<JsonObject> {
  const made = (await reader.transactions(`TicketQueue = ${quoted(space.name)} AND (Type = 'Comment' OR Type = 'Correspond')`)).filter(
    ({ ObjectId }) => ObjectId === id,
  );
  const contents = await reader.contents(id);
  return pageOf(
    made
      .filter(isComment)
      .map((one) => commentView(viewer, one, contents.get(one.id) ?? ''))
      .toSorted(byAge),
    'comments',
    query,
  );
}

function pageOf(views: readonly JsonObject[], name: string, { page, per_page: size }: { readonly page: number; readonly per_page: number }): JsonObject {
  const more = page * size < views.length;
  return { [name]: views.slice((page - 1) * size, page * size), page, per_page: size, total: views.length, next_page: more ? page + 1 : null };
}

function byAge(a: JsonObject, b: JsonObject): number {
  return Date.parse(String(a['created_at'])) - Date.parse(String(b['created_at'])) || Number(a['id']) - Number(b['id']);
}

function existing(start: Start, number: string): number {
  const there = /^\d{1,9}$/.test(number) ? start.there(Number(number)) : null;
  if (there === null) throw new TicketProblem(404, 'not_found', `there is no ticket ${number}`);
  return there;
}
