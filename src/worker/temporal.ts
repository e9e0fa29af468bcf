import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from './config.ts';

/** A client over one connection; closes it when disposed. */
export async function connectClient(temporal: Config['temporal']): Promise<Client & AsyncDisposable> {
  const connection = await Connection.connect(connectionOptions(temporal));
  const client = new Client({ connection, namespace: temporal.namespace });
  return Object.assign(client, { [Symbol.asyncDispose]: () => connection.close() });
}

/** The connection of a worker. */
export function connectWorker(temporal: Config['temporal']): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(temporal));
}

function connectionOptions({ address, apiKey, tls }: Config['temporal']) {
  return { address, ...(apiKey === undefined ? {} : { apiKey }), ...(tls === undefined ? {} : { tls }) };
}
