import { startInbox } from '../environments/inbox/inbox.ts';
import type { ServiceAddresses } from '../environments/services.ts';
import { startTickets } from '../environments/tickets/service.ts';
import { ToolServers } from '../tool-server/servers.ts';
import { readVariables } from '../worker/config.ts';
import type { Root } from '../worker/root.ts';

/** Tool servers without a worker, for what they say of themselves; with an inbox and a ticket service, since a server may look for them when it starts. */
export async function withToolServers<T>(root: Root, work: (servers: ToolServers) => Promise<T>): Promise<T> {
  const { config, log, worlds } = root;
  await using stack = new AsyncDisposableStack();
  const inbox = stack.use(await startInbox({ directory: worlds, listen: config.listen, log }));
  const tickets = stack.use(await startTickets({ directory: worlds, listen: config.listen, log }));
  return await work(stack.use(toolServersAt({ smtp: { host: inbox.host, port: inbox.port }, tickets: tickets.url })));
}

/** Tool servers of worlds that this process alone holds. */
export function toolServersAt(addresses: ServiceAddresses): ToolServers {
  return new ToolServers({ addresses, environmentOf: readVariables, stands: () => Promise.resolve(true), failpoint: () => undefined });
}
