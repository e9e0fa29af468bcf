import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { Calls } from './calls.ts';
import type { Config } from './config.ts';

/** A client over one connection, which is made when it is first used where it is `lazy`; when disposed, it ends the calls that are under way as cancelled and closes the connection. */
export async function connectClient(
  temporal: Config['temporal'],
  { lazy = false, codec }: { readonly lazy?: boolean; readonly codec?: PayloadCodec } = {},
): Promise<Client & AsyncDisposable> {
  const calls = new Calls();
  const options = { ...connectionOptions(temporal), interceptors: [calls.interceptor] };
  const connection = lazy ? Connection.lazy(options) : await Connection.connect(options);
  const client = new Client({ connection, namespace: temporal.namespace, ...(codec && { dataConverter: { payloadCodecs: [codec] } }) });
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
