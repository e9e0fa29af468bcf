import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What goes wrong with the next write: `lose reply` keeps it and drops the connection, `drop request` drops the connection before anything is kept,
 * `stay silent` keeps it and never replies, `refuse` and `limit` refuse it.
 */
export type Trouble = 'lose reply' | 'drop request' | 'stay silent' | 'refuse' | 'limit';

export interface Entry {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A service over HTTP with a book of what it did. */
export class Service implements AsyncDisposable {
  readonly book: Entry[] = [];
  readonly url: string;
  /** Answers no look-up. */
  deaf = false;
  private readonly troubles: Trouble[] = [];
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A payment provider: `POST /refunds` with an Idempotency-Key, `GET /refunds?key=`. */
  static payments(port = 0): Promise<Service> {
    return Service.start(port, 're', (request) => /^"(.+)"$/.exec(request.headers['idempotency-key']?.toString() ?? '')?.[1]);
  }

  /** A help desk: `POST /tickets` with a reference of the sender's in the body, `GET /tickets?reference=`. It never refuses a second one. */
  static helpdesk(port = 0): Promise<Service> {
    return Service.start(port, 'ti');
  }

  /** The next writes go wrong in this way, one each. */
  provoke(...troubles: Trouble[]): void {
    this.troubles.push(...troubles);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private static async start(port: number, prefix: string, keyOf?: (request: IncomingMessage) => string | undefined): Promise<Service> {
    const server = createServer(
      { requestTimeout: 2_000, headersTimeout: 2_000, connectionsCheckingInterval: 500 },
      (request, response) => void service.answer(request, response, prefix, keyOf),
    );
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const service = new Service(server);
    return service;
  }

  private async answer(request: IncomingMessage, response: ServerResponse, prefix: string, keyOf?: (request: IncomingMessage) => string | undefined) {
    if (request.method === 'GET') {
      if (this.deaf) return reply(response, 503, { message: 'No look-ups now.' });
      const asked = [...new URL(request.url ?? '/', this.url).searchParams];
      return reply(
        response,
        200,
        this.book.filter((entry) => asked.every(([field, value]) => entry[field] === value)),
      );
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    const trouble = this.troubles.shift();
    if (trouble === 'drop request') return void request.socket.destroy();
    if (trouble === 'limit') return reply(response.setHeader('retry-after', '2'), 429, { message: 'Too many requests.' });
    if (trouble === 'refuse') return reply(response, 402, { message: 'The card was declined.' });
    const key = keyOf?.(request);
    if (keyOf && key === undefined) return reply(response, 400, { message: 'An Idempotency-Key is required.' });
    const before = key === undefined ? undefined : this.book.find((entry) => entry['key'] === key);
    if (before && Object.entries(body).some(([field, value]) => before[field] !== value)) {
      return reply(response, 422, { message: 'This key was used for another request.' });
    }
    const entry = before ?? { id: `${prefix}_${this.book.length + 1}`, ...body, ...(key !== undefined && { key }) };
    if (!before) this.book.push(entry);
    if (trouble === 'lose reply') return void request.socket.destroy();
    if (trouble === 'stay silent') return undefined;
    return reply(response, 201, entry);
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
