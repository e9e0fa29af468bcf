import type { JsonObject } from '../domain/json.ts';
import type { ToolSchema } from '../environments/world.ts';

/** OpenAPI document of what one trial permits: a path for each tool. */
export function openApiOf(tools: readonly ToolSchema[]): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'Tools of a trial', version: '1', description: 'Each call is an operation; its answer says how it ended.' },
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Answer: ANSWER },
      parameters: { IdempotencyKey: KEY },
    },
    paths: Object.fromEntries(tools.map((tool) => [`/tools/${tool.name}`, { post: operationOf(tool) }])),
  };
}

function operationOf({ name, description, inputSchema, effect }: ToolSchema): JsonObject {
  return {
    operationId: name,
    description,
    'x-effect': effect,
    parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
    requestBody: { required: true, content: { 'application/json': { schema: inputSchema } } },
    responses: {
      '200': answer('The tool replied.'),
      '4XX': answer('It had no effect: refused by the door or by the tool.'),
      '503': answer('It had no effect: the service was not there.'),
      '504': answer('It is not known whether it had its effect.'),
    },
  };
}

function answer(description: string): JsonObject {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } } };
}

const KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'For tools that take one, instead of the argument idempotency_key: the same key within a trial is one operation.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const ANSWER: JsonObject = {
  type: 'object',
  required: ['operation', 'state', 'result', 'problem'],
  properties: {
    operation: { type: ['string', 'null'], description: 'Id of the operation; null where the request never became one.' },
    state: { enum: ['committed', 'failed', 'rejected', 'denied', 'unknown', 'awaiting_approval'] },
    result: { description: 'What the tool returned; null unless committed.' },
    problem: {
      type: ['object', 'null'],
      required: ['code', 'message'],
      properties: { code: { type: 'string' }, message: { type: 'string' }, retryAfterSeconds: { type: 'number' } },
    },
  },
};
