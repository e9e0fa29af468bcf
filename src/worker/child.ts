/**
 * A worker as a child of a command: gets its configuration as the first message, since it holds secrets, and stops when its parent does.
 */
import type { Config } from './config.ts';
import { runWorker } from './main.ts';

const stop = new AbortController();
for (const event of ['SIGTERM', 'disconnect'] as const) process.on(event, () => stop.abort());
// The terminal sends Ctrl-C to the whole group; the parent decides what becomes of the work in flight.
process.on('SIGINT', () => {});

process.once('message', (config: Config) => {
  runWorker(config, { signal: stop.signal, ready: () => process.send?.({ type: 'ready' }) }).then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`worker: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(3);
    },
  );
});
