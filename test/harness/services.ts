import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { findTemporalCli } from '../../src/infra/temporal-cli.ts';
import { startTemporalServer } from '../../src/infra/temporal-server.ts';

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
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache');
  const cli = await findTemporalCli({ explicit: process.env.TEMPORAL_CLI_PATH ?? null, path: process.env.PATH ?? '', cacheFolder: join(cache, 'trialbed') });
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
  project.provide('services', { postgresUrl: postgres.url, temporalAddress: temporal.address });
  return async () => {
    await Promise.all([postgres.stop(), temporal.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
}
