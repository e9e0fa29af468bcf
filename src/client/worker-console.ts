import type { Root } from '../worker/root.ts';
import type { TrialServices } from '../worker/trial-worker.ts';
import type { Trialbed } from './api.ts';

/** How a client is made over a root: `trialbedOver`. */
export type ClientOver = (root: Root, release: () => Promise<void>, options: { readonly temporalUi: string | null }) => Trialbed;

interface WorkerConsoleOptions {
  readonly over: ClientOver;
  /** Address as browsers have it; null: this machine alone. */
  readonly url: string | null;
  readonly temporalUi: string | null;
  readonly say: (line: string) => void;
}

/** The operators' console as pages of a worker's gateway, for as long as the worker runs. `trialbed console` finds it in the same home. @throws {ConsoleAddressError} */
export async function serveWorkerConsole(
  { root, services }: { readonly root: Root; readonly services: Pick<TrialServices, 'gateway'> },
  { over, url, temporalUi, say }: WorkerConsoleOptions,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  // The root is the worker's to let go.
  const client = stack.use(over({ ...root, async [Symbol.asyncDispose]() {} }, async () => {}, { temporalUi }));
  const on = async (pages: Parameters<typeof services.gateway.mount>[0]) => services.gateway.mount(pages);
  const served = stack.use(await client.console({ on, listen: root.config.listen, ...(url !== null && { url }) }));
  say(`the console is served at ${served.url}; "trialbed console" prints a link that signs in`);
  return stack.move();
}
