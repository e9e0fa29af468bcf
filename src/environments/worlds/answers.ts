import { connect } from 'node:net';

/** Longer than any server on this machine takes to accept a connection. */
const PATIENCE_MS = 2_000;

/** Whether something accepts connections where the URL of a Postgres says. */
export function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 5432), timeout: PATIENCE_MS });
    const end = (there: boolean) => {
      socket.destroy();
      resolve(there);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
