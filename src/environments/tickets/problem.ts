import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A refusal as the ticket service answers it: problem JSON (RFC 9457). */
export class TicketProblem extends Error {
  override readonly name = 'TicketProblem';
  readonly status: ContentfulStatusCode;
  /** Stable, for example `not_found`. */
  readonly code: string;
  readonly errors: readonly FieldError[];

  constructor(status: ContentfulStatusCode, code: string, detail: string, errors: readonly FieldError[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  response(headers: { readonly [name: string]: string } = {}): Response {
    const body = {
      type: 'about:blank',
      title: TITLES[this.status] ?? 'Error',
      status: this.status,
      code: this.code,
      detail: this.message,
      ...(this.errors.length === 0 ? {} : { errors: this.errors }),
    };
    return new Response(JSON.stringify(body), { status: this.status, headers: { 'content-type': 'application/problem+json', ...headers } });
  }
}

/** Code of the answer to a request that met a rule of the fault schedule which does not fit the world. */
export const FAULT_NOT_APPLICABLE = 'fault_not_applicable';

/** What is wrong with one field of a body or a query. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

const TITLES: { readonly [status: number]: string } = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  423: 'Locked',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** The refusal that an error of PostgreSQL means to a client; null when it is trouble of ours. */
export function problemOfSqlError(error: unknown): TicketProblem | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  const detail = CONFLICTS.get(error.code);
  if (detail !== undefined) return new TicketProblem(409, 'conflict', detail);
  // Class 22: the value does not fit its type; 23502, 23503, 23514: it breaks a rule of the table.
  if (/^22|^2350[23]$|^23514$/.test(error.code)) return new TicketProblem(422, 'invalid', error.message);
  return null;
}

const CONFLICTS: ReadonlyMap<string, string> = new Map([
  ['23505', 'such a record exists already'],
  ['23P01', 'the record overlaps another'],
  ['40001', 'the ticket was changed at the same time; read it and try again'],
  ['40P01', 'the ticket was changed at the same time; read it and try again'],
  ['55P03', 'the ticket is locked; try again'],
]);
