import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { freePort } from '../../src/infra/ports.ts';
import { startEmbeddedPostgres } from '../../src/infra/postgres-embedded.ts';
import { startTestbed } from '../harness/testbed.ts';
import { expectAllCounted, runStruck, WRITING } from './batch.ts';

const run = promisify(execFile);

/** Of the file system that holds the server's data. */
const MEGABYTES = 160;

const mayMount = process.getuid?.() === 0 && process.platform === 'linux';

test.skipIf(!mayMount)(
  `the disk of PostgreSQL is full: the batch waits, says so, and goes on, and no agent is blamed${mayMount ? '' : ' (skipped: only root may mount a small file system)'}`,
  { timeout: 300_000 },
  async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    const disk = join(folder, 'disk');
    await mkdir(disk);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m,mode=0755`, 'tmpfs', disk]);
    stack.defer(async () => void (await run('umount', ['-l', disk])));
    const options = {
      dataFolder: join(disk, 'postgres'),
      logFile: join(folder, 'postgres.log'),
      port: await freePort(),
      password: 'chaos',
      fsync: false,
    };
    let server = await startEmbeddedPostgres(options);
    stack.defer(() => server.stop());
    const testbed = stack.use(await startTestbed({ postgresUrl: server.url, temporalAddress: inject('services').temporalAddress }));
    const request = { ...WRITING, keep: 'always' } as const;
    const struck = await runStruck(testbed, request, 2, async (told) => {
      const ballast = join(disk, 'ballast');
      await fill(ballast);
      await told;
      await rm(ballast);
      // Without room for its log it ends itself, and a supervisor starts it again.
      if (server.process.exit() !== null) server = await startEmbeddedPostgres(options);
    });
    await expectAllCounted(testbed, struck);
    expect(struck.outages.map((outage) => outage?.service ?? null)).toEqual(['PostgreSQL', null]);
    // By what it meets first: what cannot be written, or the server that ends itself for that.
    expect(struck.outages[0]?.reason).toMatch(/no room on its disk|lost the connection|was stopped|cannot be reached|is starting or stopping/);
  },
);

/** Writes until there is no room for a single page more. */
async function fill(file: string): Promise<void> {
  await using handle = await open(file, 'w');
  for (let size = 1024 * 1024; size >= 1024; size = size === 1024 ? 0 : 1024) {
    const block = Buffer.alloc(size);
    try {
      for (;;) await handle.write(block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
