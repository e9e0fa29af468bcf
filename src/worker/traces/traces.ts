import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { AttemptRef } from '../../activities/contract.ts';
import type { TraceSinks } from '../../workflows/attempt-trace.ts';
import type { TracesConfig } from './config.ts';

/** The traces of a worker's trials: one for each attempt, with its phases, operations and activities. */
export interface Traces extends AsyncDisposable {
  /** Whether an attempt is traced. */
  readonly takes: (ref: AttemptRef) => boolean;
  readonly activities: readonly ActivityInterceptorsFactory[];
  /** What workflows tell of. Also there where no trace is made: an attempt goes on telling that another worker has begun. */
  readonly sinks: InjectedSinks<TraceSinks>;
}

/** Starts sending traces; null: none is made, and nothing of what makes them is loaded. Disposing sends what is left, for some seconds at most. */
export async function startTraces(config: TracesConfig | null, log: Logger): Promise<Traces> {
  if (config === null)
    return { takes: () => false, activities: [], sinks: { traces: { span: { fn: () => undefined } } }, [Symbol.asyncDispose]: async () => {} };
  const { openTelemetry } = await import('./open-telemetry.ts');
  return openTelemetry(config, log);
}
