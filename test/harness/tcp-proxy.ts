import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A way to a server that can be cut. */
export interface TcpProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly address: string;
  /** Ends all connections and refuses new ones, or takes them and passes nothing on. */
  cut(how: 'refuses' | 'is silent'): void;
  mend(): void;
}

export async function startTcpProxy(to: string): Promise<TcpProxy> {
  const [host = '', port = ''] = to.split(':');
  const open = new Set<Socket>();
  let state: 'passes' | 'refuses' | 'is silent' = 'passes';
  const server = createServer((client) => {
    if (state === 'refuses') return client.destroy();
    open.add(client);
    client.on('error', () => undefined);
    client.on('close', () => open.delete(client));
    if (state === 'is silent') return client.resume();
    const upstream = connect(Number(port), host);
    open.add(upstream);
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => {
      open.delete(upstream);
      client.destroy();
    });
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hangUp = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(how) {
      state = how;
      if (how === 'refuses') hangUp();
      else
        for (const socket of open) {
          socket.unpipe();
          socket.removeAllListeners('data');
          socket.resume();
        }
    },
    mend() {
      state = 'passes';
      // What was taken in silence never answers.
      hangUp();
    },
    async [Symbol.asyncDispose]() {
      hangUp();
      server.close();
    },
  };
}
