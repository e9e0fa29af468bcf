import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ConfigError } from './config.ts';
import { BUCKETS } from './meters.ts';

/** What the SDK warns of at the start of every worker that takes activities alone. */
const ACTIVITIES_ONLY = 'No workflows registered';

let installed = false;

/**
 * Sends what the Temporal SDK logs to our log, and with an address (`host:port`) serves its metrics and ours there under `/metrics`. Once per process, before
 * the first connection: the SDK takes both only then. @throws {ConfigError} when the address cannot be listened on
 */
export function installSdkRuntime(log: Logger, metrics: string | null): void {
  if (installed) return;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    // That of conversations takes activities alone, as it should: the SDK has no way to say that this is meant.
    if (message.startsWith(ACTIVITIES_ONLY)) return;
    const line = { ...meta };
    if (level === 'ERROR') log.error(line, message);
    else log.warn(line, message);
  });
  const logging = { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) };
  const exporter =
    metrics === null
      ? {}
      : { metrics: { prometheus: { bindAddress: metrics, countersTotalSuffix: true, unitSuffix: true, histogramBucketOverrides: BUCKETS } } };
  try {
    Runtime.install({ logger, telemetryOptions: { logging, ...exporter } });
  } catch (error) {
    if (metrics === null) throw error;
    throw new ConfigError([`TRIALBED_METRICS: ${metrics} cannot be listened on: ${error instanceof Error ? error.message : String(error)}`]);
  }
  installed = true;
}
