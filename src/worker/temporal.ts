import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { Calls } from './calls.ts';
import type { Config } from './config.ts';

/** A client over one connection; when disposed, it ends the calls that are under way as cancelled and closes the connection. */
export async function connectClient(temporal: Config['temporal']): Promise<Client & AsyncDisposable> {
  const calls = new Calls();
  const connection = await Connection.connect({ ...connectionOptions(temporal), interceptors: [calls.interceptor] });
  const client = new Client({ connection, namespace: temporal.namespace });
  return Object.assign(client, {
    [Symbol.asyncDispose]: () => {
      calls.close();
      return connection.close();
    },
  });
}

/** The connection of a worker. */
export function connectWorker(temporal: Config['temporal']): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(temporal));
}

function connectionOptions({ address, apiKey, tls }: Config['temporal']) {
  return { address, ...(apiKey === undefined ? {} : { apiKey }), ...(tls === undefined ? {} : { tls }) };
}
