import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

/** What the SDK warns of at the start of every worker that takes activities alone. */
const ACTIVITIES_ONLY = 'No workflows registered';

let installed = false;

/** Sends what the Temporal SDK logs to our log. Once per process, before the first connection: the SDK takes its logger only then. */
export function installSdkLog(log: Logger): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    // That of conversations takes activities alone, as it should: the SDK has no way to say that this is meant.
    if (message.startsWith(ACTIVITIES_ONLY)) return;
    const line = { ...meta };
    if (level === 'ERROR') log.error(line, message);
    else log.warn(line, message);
  });
  Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } } });
}
