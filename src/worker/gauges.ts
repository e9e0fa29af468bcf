import type { Worlds } from '../environments/world.ts';
import type { Store } from '../store/store.ts';
import type { Gauges } from './meters.ts';

const EVERY_MS = 5_000;

/** Looks every few seconds how things stand, until it is disposed. What cannot be asked keeps its last value. */
export function watchGauges(gauges: Gauges, { store, worlds }: { readonly store: Store; readonly worlds: Worlds }): Disposable {
  // A state of which none is left has to be told as 0.
  const seen = new Map<string, (count: number) => void>();
  const tell = (now: ReadonlyMap<string, number>, set: (key: string) => (count: number) => void) => {
    for (const key of now.keys()) if (!seen.has(key)) seen.set(key, set(key));
    return now;
  };
  let running = false;
  const look = async () => {
    if (running) return;
    running = true;
    try {
      const [phases, states] = await Promise.all([store.underWay(), worlds.states()]);
      const now = new Map([
        ...tell(new Map(phases.map(({ phase, trials }) => [`trials ${phase}`, trials])), (key) => (count) => gauges.trials(key.slice('trials '.length), count)),
        ...tell(new Map(states.map(({ host, state, count }) => [JSON.stringify([host, state]), count])), (key) => {
          const [host = '', state = ''] = JSON.parse(key) as string[];
          return (count) => gauges.worlds(host, state, count);
        }),
      ]);
      for (const [key, set] of seen) set(now.get(key) ?? 0);
      for (const pool of [store.connections(), ...worlds.connections()]) {
        gauges.connections(pool.name, 'in_use', pool.inUse);
        gauges.connections(pool.name, 'idle', pool.idle);
        gauges.connections(pool.name, 'awaited', pool.awaited);
      }
    } catch {
      // Steps say in the log what is away.
    } finally {
      running = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
