import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { batchOf } from '../domain/trial.ts';
import { ConfigError } from './config.ts';
import { BUCKETS } from './meters.ts';

/** What the SDK warns of at the start of every worker that takes activities alone. */
const ACTIVITIES_ONLY = 'No workflows registered';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

let installed = false;

/**
 * Sends what the Temporal SDK logs to our log, and with an address (`host:port`) serves its metrics and ours there under `/metrics`. Once per process, before
 * the first connection: the SDK takes both only then. @throws {ConfigError} when the address cannot be listened on
 */
export function installSdkRuntime(log: Logger, metrics: string | null): void {
  if (installed) return;
  const logger = new DefaultLogger('TRACE', ({ level, message, meta }) => {
    // That of conversations takes activities alone, as it should: the SDK has no way to say that this is meant.
    if (message.startsWith(ACTIVITIES_ONLY)) return;
    log[LEVELS[level]](ofTrial({ ...meta }), message);
  });
  const logging = { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) };
  const exporter =
    metrics === null
      ? {}
      : {
          metrics: {
            prometheus: { bindAddress: metrics, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true, histogramBucketOverrides: BUCKETS },
          },
        };
  try {
    Runtime.install({ logger, telemetryOptions: { logging, ...exporter } });
  } catch (error) {
    if (metrics === null) throw error;
    throw new ConfigError([`TRIALBED_METRICS: ${metrics} cannot be listened on: ${error instanceof Error ? error.message : String(error)}`]);
  }
  installed = true;
}

/** What a workflow logs, named as in our own lines: the workflow of a trial has its id. */
function ofTrial({ workflowId, runId, workflowType, error, ...line }: { readonly [name: string]: unknown }): object {
  const trial = workflowType === TRIAL_WORKFLOW && typeof workflowId === 'string' ? { trial: workflowId, batch: batchOf(workflowId) } : {};
  return {
    ...line,
    ...(error !== undefined && (error instanceof Error ? { err: error } : { error })),
    ...(workflowId !== undefined && { workflowId, runId, workflowType }),
    ...trial,
  };
}

const TRIAL_WORKFLOW = 'trial';
