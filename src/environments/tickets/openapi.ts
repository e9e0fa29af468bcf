import { z } from 'zod';
import { NewComment, NewTicket, PageQuery, TicketChange, TicketQuery } from './schema.ts';

/** The service's description, OpenAPI 3.1; the schemas are those that the requests are checked against. */
export function openApiDocument(): object {
  const problem = { description: 'Refused', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
  const answer = (status: number, schema: string) => ({
    [status]: { description: 'Done', content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
    default: problem,
  });
  const body = (schema: z.ZodType) => ({ required: true, content: { 'application/json': { schema: inputSchema(schema) } } });
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  return {
    openapi: '3.1.0',
    info: { title: 'Ticket service', version: '1', description: 'Tickets of one world. Times are on the clock of that world.' },
    security: [{ bearer: [] }],
    paths: {
      '/tickets': {
        get: { operationId: 'listTickets', parameters: parameters(TicketQuery), responses: answer(200, 'Tickets') },
        post: { operationId: 'createTicket', requestBody: body(NewTicket), responses: answer(201, 'Ticket') },
      },
      '/tickets/{id}': {
        parameters: [id],
        get: { operationId: 'getTicket', responses: answer(200, 'Ticket') },
        patch: { operationId: 'changeTicket', requestBody: body(TicketChange), responses: answer(200, 'Ticket') },
      },
      '/tickets/{id}/comments': {
        parameters: [id],
        get: { operationId: 'listComments', parameters: parameters(PageQuery), responses: answer(200, 'Comments') },
        post: { operationId: 'createComment', requestBody: body(NewComment), responses: answer(201, 'Comment') },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: '<world>.<secret>' } },
      schemas: {
        Ticket: record(['id', 'subject', 'body', 'requester', 'status', 'priority', 'assignee', 'created_at', 'updated_at']),
        Comment: record(['id', 'ticket_id', 'author', 'body', 'public', 'created_at']),
        Tickets: listing('tickets', 'Ticket'),
        Comments: listing('comments', 'Comment'),
        Problem: {
          type: 'object',
          required: ['type', 'title', 'status', 'code', 'detail'],
          properties: {
            type: { type: 'string' },
            title: { type: 'string' },
            status: { type: 'integer' },
            code: { type: 'string' },
            detail: { type: 'string' },
            errors: { type: 'array', items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } } },
          },
        },
      },
    },
  };
}

function inputSchema(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

function parameters(query: z.ZodObject): object[] {
  return Object.entries(query.shape).map(([name, schema]) => ({ name, in: 'query', required: false, schema: inputSchema(schema as z.ZodType) }));
}

/** Types are the pack's: a table may number its tickets or name them. */
function record(columns: readonly string[]): object {
  return { type: 'object', required: columns, properties: Object.fromEntries(columns.map((column) => [column, {}])) };
}

function listing(name: string, item: string): object {
  return {
    type: 'object',
    required: [name, 'page', 'per_page', 'total', 'next_page'],
    properties: {
      [name]: { type: 'array', items: { $ref: `#/components/schemas/${item}` } },
      page: { type: 'integer' },
      per_page: { type: 'integer' },
      total: { type: 'integer' },
      next_page: { type: ['integer', 'null'] },
    },
  };
}
