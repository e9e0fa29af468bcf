import type { ActivityServices } from '../activities/services.ts';
import { agreementOf, type AgreementReport } from '../report/agreement.ts';
import { regradeRuns } from '../recorded/regrade-runs.ts';
import { Content } from '../worker/content.ts';
import type { Root } from '../worker/root.ts';
import type { RegradeRunsRequest } from './api.ts';
import { readRecordedRuns } from './recorded-runs.ts';
import { toolServersAt } from './tool-servers.ts';

/** Runs in flight unless told otherwise: with more, one PostgreSQL on two cores gets no faster. */
const CONCURRENCY = 4;

/** Makes recorded runs again in worlds and holds the verdicts against the published ones. @throws {RecordedRunsError} */
export async function regradeRecorded(root: Root, request: RegradeRunsRequest): Promise<AgreementReport> {
  const startedAt = performance.now();
  const { format, data, runs } = request.read ?? (await readRecordedRuns(request));
  const environment = await root.loadEnvironment(format.environment(data));
  const graded = await regradeRuns(servicesOf(root), {
    format,
    runs,
    environment,
    concurrency: request.concurrency ?? CONCURRENCY,
    signal: request.signal ?? new AbortController().signal,
    ...(request.onProgress && { onProgress: request.onProgress }),
  });
  return agreementOf(format.name, graded, (performance.now() - startedAt) / 1000);
}

/** What makes calls without a worker. No inbox and no ticket service listens; environments that have them are refused. */
function servicesOf(root: Root): ActivityServices {
  const addresses = { smtp: { host: root.config.listen, port: 0 }, tickets: `http://${root.config.listen}:0` };
  return {
    store: root.store,
    worlds: root.worlds,
    addresses,
    toolServers: toolServersAt(addresses),
    content: new Content(root.loadEnvironment),
    log: root.log,
    failpoint: () => undefined,
    now: () => new Date(),
  };
}
