import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * Ports that are kept lie below those that systems give to outgoing connections (from 32768 on Linux, from 49152 on macOS): any connection of the
 * machine could hold one of the latter at the moment when a service wants it again.
 */
const PORTS = { first: 15_000, end: 32_768 } as const;

/** A port of the loopback interface on which nothing listens now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (await portIsFree(port)) return port;
  }
  throw new Error(`no free port of the loopback interface was found between ${PORTS.first} and ${PORTS.end - 1}`);
}

/** Whether we could listen on this port of the loopback interface. */
export async function portIsFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Whether something accepts connections there within `timeoutMs`. */
export async function portAnswers(host: string, port: number, timeoutMs = 1000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
