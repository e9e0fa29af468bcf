import type { TicketTables } from '../report/tickets.ts';
import type { Root } from '../worker/root.ts';

/** Tables of the ticket service in the worlds of a batch; null: it has none. Rejects where its environment is not here. */
export async function ticketTablesOf({ store, loadEnvironment }: Pick<Root, 'store' | 'loadEnvironment'>, id: string): Promise<TicketTables | null> {
  const batch = await store.batch(id);
  return batch && ((await loadEnvironment(batch.environment)).environment.services?.tickets ?? null);
}
