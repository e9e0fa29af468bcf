import type { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { ToolFailure } from '../../environments/define.ts';
import { TicketProblem } from '../../environments/tickets/problem.ts';
import type { NewComment, NewTicket, TicketChange } from '../../environments/tickets/schema.ts';
import { LiveOutcomeUnknownError, LiveUnreachableError } from '../errors.ts';
import type { RequestLog, Space } from '../live-service.ts';
import { type ChangedField, contentDigest, type Sent } from './attribution.ts';
import { quoted, type Reader } from './reader.ts';
import { madeTicket, type TicketRecord, words } from './records.ts';
import { type RestOptions, type RestRequest, rest } from './rest.ts';
import { ASSIGNEE, commentView, isComment, type Viewer } from './view.ts';
import { contentOf, priorityThere, statusThere } from './words.ts';

export interface WriterParts {
  readonly space: Space;
  readonly reader: Reader;
  readonly rest: RestOptions;
  readonly log: RequestLog;
}

/** Writes to a world's queue as its account. Each request is noted before it is sent. */
export class Writer {
  private readonly parts: WriterParts;
  private readonly viewer: Viewer;

  constructor(parts: WriterParts, viewer: Viewer) {
    this.parts = parts;
    this.viewer = viewer;
  }

  /** The number there. */
  async create({ subject, body, requester, status, priority, assignee }: z.output<typeof NewTicket>): Promise<number> {
    const { space } = this.parts;
    const ticket = {
      ...{ Queue: space.name, Subject: subject, Content: body, ContentType: 'text/plain', Requestor: String(requester) },
      ...{ Status: knownStatus(status ?? 'open'), Priority: knownPriority(priority ?? 'normal') },
      ...(assignee != null && { CustomFields: { [ASSIGNEE]: String(assignee) } }),
    };
    const sent: Sent = { kind: 'create', content: contentDigest(space.name, [subject, contentOf(body)]) };
    const { id } = await this.send(sent, { method: 'POST', path: '/ticket', body: ticket }, madeTicket, ({ id }) => ({ ticket: id }));
    return id;
  }

  async comment(ticket: number, { author, body, public: isPublic }: z.output<typeof NewComment>): Promise<JsonObject> {
    const { space, reader } = this.parts;
    if (String(author) !== space.actsFor) throw new ToolFailure('not_permitted', `comments are written as ${space.actsFor} here, whoever is named`);
    const content = contentOf(body);
    const sent: Sent = { kind: 'comment', ticket, public: isPublic, content: contentDigest(space.name, [content]) };
    const request: RestRequest = {
      method: 'POST',
      path: `/ticket/${ticket}/${isPublic ? 'correspond' : 'comment'}`,
      body: { Content: body, ContentType: 'text/plain' },
    };
    const said = await this.send(sent, request, words, () => ({}));
    // It says in words alone that it was done, so the comment itself is looked for.
    const type = isPublic ? 'Correspond' : 'Comment';
    const made = await reader.transactions(`TicketQueue = ${quoted(space.name)} AND Type = ${quoted(type)}`);
    const contents = await reader.contents(ticket);
    const own = made.findLast((one) => isComment(one) && one.ObjectId === ticket && one.Creator.id === space.name && contents.get(one.id) === content);
    if (!own) throw new ToolFailure('invalid', said.join('; ') || 'the comment was not added');
    return commentView(this.viewer, own, content);
  }

  async change(ticket: number, { subject, status, priority, assignee }: Omit<z.output<typeof TicketChange>, 'if_updated_at' | 'body'>): Promise<void> {
    const { space, reader } = this.parts;
    const wanted = new Map<ChangedField, string>();
    if (subject !== undefined) wanted.set('Subject', subject);
    if (status !== undefined) wanted.set('Status', knownStatus(status));
    if (priority !== undefined) wanted.set('Priority', String(knownPriority(priority)));
    if (assignee !== undefined) wanted.set('Assignee', assignee === null ? '' : String(assignee));
    const plain = Object.fromEntries([...wanted].filter(([field]) => field !== 'Assignee'));
    const assigned = wanted.get('Assignee');
    const body = { ...plain, ...(assigned !== undefined && { CustomFields: { [ASSIGNEE]: assigned } }) };
    const fields = Object.fromEntries([...wanted].map(([field, value]) => [field, contentDigest(space.name, [value])]));
    const sent: Sent = { kind: 'change', ticket, fields };
    const said = await this.send(sent, { method: 'PUT', path: `/ticket/${ticket}`, body }, words, () => ({}));
    // A refusal comes with 200 and words; what stands afterwards says which it was.
    const now = await reader.ticket(ticket);
    const missed = [...wanted].filter(([field, value]) => valueThere(now, field) !== value);
    if (missed.length === 0) return;
    const refusal = said.join('; ') || 'the ticket was not changed';
    if (missed.length < wanted.size) throw new LiveOutcomeUnknownError(`PUT /ticket/${ticket}`, new Error(`it was done in part: ${refusal}`));
    throw new ToolFailure(/permission denied/i.test(refusal) ? 'not_permitted' : 'invalid', refusal);
  }

  private async send<S extends z.ZodType>(sent: Sent, request: RestRequest, schema: S, answer: (body: z.output<S>) => JsonObject): Promise<z.output<S>> {
    const { log, rest: options } = this.parts;
    const number = await log.sent({ ...sent });
    try {
      const body = await rest(options, request, schema);
      await log.answered(number, answer(body));
      return body;
    } catch (error) {
      if (error instanceof ToolFailure || error instanceof LiveUnreachableError) await log.answered(number, { refused: error.code });
      throw error;
    }
  }
}

function valueThere(record: TicketRecord, field: ChangedField): string {
  if (field === 'Assignee') return record.CustomFields.find(({ name }) => name === ASSIGNEE)?.values[0] ?? '';
  return String(record[field]);
}

function knownStatus(status: string): string {
  const there = statusThere(status);
  if (there === null) throw new TicketProblem(422, 'invalid', `there is no status ${status}`);
  return there;
}

function knownPriority(priority: string): number {
  const there = priorityThere(priority);
  if (there === null) throw new TicketProblem(422, 'invalid', `there is no priority ${priority}`);
  return there;
}
