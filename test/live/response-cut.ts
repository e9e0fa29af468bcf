import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A way to a server on which answers can be lost, and requests swallowed. What administrators ask passes. */
export interface ResponseCut extends AsyncDisposable {
  readonly address: string;
  /** The next request of a trial's account that begins so reaches the server, whose answer does not come back. */
  loseAnswerTo(start: string): void;
  /** The next request of a trial's account that begins so goes nowhere: something happens instead, and its connection ends. */
  swallow(start: string, instead: () => Promise<void>): void;
}

export async function startResponseCut(to: string): Promise<ResponseCut> {
  const { hostname, port } = new URL(to);
  const open = new Set<Socket>();
  let lost: string | null = null;
  let swallowed: { readonly start: string; readonly instead: () => Promise<void> } | null = null;
  const begins = (chunk: Buffer, start: string) => {
    const text = chunk.toString('latin1');
    return text.startsWith(start) && /^authorization: Basic /im.test(text);
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    let drops = false;
    client.on('data', (chunk) => {
      if (lost !== null && begins(chunk, lost)) {
        drops = true;
        lost = null;
      }
      if (swallowed !== null && begins(chunk, swallowed.start)) {
        const { instead } = swallowed;
        swallowed = null;
        return void instead().finally(() => client.destroy());
      }
      return upstream.write(chunk);
    });
    // The server has done it by the time it answers.
    upstream.on('data', (chunk) => (drops ? client.destroy() : client.write(chunk)));
    upstream.on('end', () => client.end());
    upstream.on('close', () => client.destroy());
    client.on('close', () => {
      if (!drops) upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswerTo(start) {
      lost = start;
    },
    swallow(start, instead) {
      swallowed = { start, instead };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
