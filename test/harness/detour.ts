import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../src/infra/ports.ts';

/** A server's address that can be taken away and given back. */
export interface Detour extends AsyncDisposable {
  /** The URL, by way of it. */
  readonly url: string;
  /** Ends all connections; new ones are refused. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export async function startDetour(url: string): Promise<Detour> {
  const to = new URL(url);
  const port = await freePort();
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect({ host: to.hostname, port: Number(to.port) });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  const mend = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = async () => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await mend();
  const here = new URL(url);
  here.port = String(port);
  return { url: here.href, cut, mend, [Symbol.asyncDispose]: cut };
}
