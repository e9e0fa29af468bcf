import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

/** An HTTP server of ours that takes requests. */
export interface Listening extends AsyncDisposable {
  /** Base URL, without a slash at the end. */
  readonly url: string;
}

/** Milliseconds that requests in progress get when a server closes. */
const CLOSE_MS = 2_000;

/** Serves an application over HTTP/1.1. `port`: default 0, a free one. `advertise`: the host in its URL; default the address. @throws when the address cannot be listened on. */
export async function listen(
  app: Pick<Parameters<typeof createAdaptorServer>[0], 'fetch'>,
  address: { readonly listen: string; readonly port?: number | undefined; readonly advertise?: string | null },
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer,
    serverOptions: { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 5_000, maxHeaderSize: 16 * 1024 },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port ?? 0, address.listen, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port, family } = server.address() as AddressInfo;
  const told = address.advertise ?? (family === 'IPv6' ? `[${address.listen}]` : address.listen);
  return {
    url: `http://${told}:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const impatient = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await closed;
      clearTimeout(impatient);
    },
  };
}
