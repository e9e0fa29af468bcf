import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { provideTemporalCli } from '../../src/infra/temporal-fetch.ts';
import { prepareTemporal } from '../../src/infra/temporal-ready.ts';
import { startTemporalServer } from '../../src/infra/temporal-server.ts';
import { readSettings } from '../../src/worker/config.ts';

/** Real services that every test file of the run shares. Each file makes databases, schemas and task queues of its own names. */
export interface TestServices {
  /** URL of the superuser of a PostgreSQL 18. */
  readonly postgresUrl: string;
  /** `host:port` of a Temporal server, namespace `default`. */
  readonly temporalAddress: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    services: TestServices;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-test-'));
  await chmod(folder, 0o755);
  const { temporalCli, path, cacheFolder } = readSettings(process.env);
  const cli = await provideTemporalCli({ explicit: temporalCli, path, cacheFolder }, (text) => process.stderr.write(`${text}\n`));
  const [postgres, temporal] = await Promise.all([
    startEmbeddedPostgres({
      dataFolder: join(folder, 'postgres'),
      port: await freePort(),
      password: 'test',
      logFile: join(folder, 'postgres.log'),
      fsync: false,
    }),
    startTemporalServer({ cli: cli.file, port: await freePort(), uiPort: null, databaseFile: null, logFile: join(folder, 'temporal.log'), cwd: folder }),
  ]);
  await prepareTemporal({ address: temporal.address, namespace: 'default' });
  project.provide('services', { postgresUrl: postgres.url, temporalAddress: temporal.address });
  return async () => {
    await Promise.all([postgres.stop(), temporal.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
}
