import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceStatus } from './protocol.ts';

/** One run of a service, from a start to its end. */
export interface ServiceRun {
  /** Process id, or the container's short id. */
  readonly id: string;
  /** Settles with the reason when the run has ended, wanted or not; never rejects. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface KeptService {
  status(): ServiceStatus;
  /** Settles with an error when the service ended and could not be brought back; never otherwise. */
  readonly lost: Promise<Error>;
  stop(): Promise<void>;
}

/** Restarts within {@link WINDOW_MS} after which a service counts as lost. */
const MOST_RESTARTS = 8;
const WINDOW_MS = 120_000;

/**
 * Starts a service and starts it again whenever it ends without having been told to. `start` must give the new run the
 * address of the old one. @throws what the first start throws
 */
export async function keepRunning(name: string, start: () => Promise<ServiceRun>, log: (text: string) => void): Promise<KeptService> {
  let run = await start();
  let state: ServiceStatus['state'] = 'running';
  let restarts = 0;
  const stopping = new AbortController();
  let reportLost: (error: Error) => void = () => undefined;
  const lost = new Promise<Error>((resolve) => {
    reportLost = resolve;
  });

  const watch = async (): Promise<void> => {
    const recent: number[] = [];
    while (!stopping.signal.aborted) {
      const reason = await run.ended;
      if (stopping.signal.aborted) return;
      state = 'restarting';
      for (;;) {
        const now = Date.now();
        while (recent[0] !== undefined && recent[0] < now - WINDOW_MS) recent.shift();
        if (recent.length >= MOST_RESTARTS) {
          state = 'stopped';
          reportLost(new Error(`${name} ended ${MOST_RESTARTS} times in ${WINDOW_MS / 1000} seconds (last: ${reason}) and was given up`));
          return;
        }
        recent.push(now);
        restarts += 1;
        log(`${name} ended (${reason}); starting it again`);
        try {
          run = await start();
          break;
        } catch (error) {
          log(`${name} could not be started again: ${error instanceof Error ? error.message : String(error)}`);
          await sleep(Math.min(5_000, 250 * 2 ** recent.length), undefined, { signal: stopping.signal }).catch(() => undefined);
          if (stopping.signal.aborted) return;
        }
      }
      // Stopped while it was coming up: nobody else will end this run.
      if (stopping.signal.aborted) await run.stop();
      else state = 'running';
    }
  };
  const watching = watch();

  return {
    status: () => ({ name, state, id: state === 'running' ? run.id : null, restarts }),
    lost,
    async stop() {
      stopping.abort();
      if (state === 'running') await run.stop();
      await watching;
      state = 'stopped';
    },
  };
}
