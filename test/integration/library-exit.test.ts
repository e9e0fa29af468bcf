import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { customAlphabet } from 'nanoid';
import pg from 'pg';
import { expect, inject, test } from 'vitest';

const newName = customAlphabet('abcdefghjkmnpqrstuvwxyz23456789', 8);
/** As it is installed: plain Node reads no page that is written in JSX. */
const CLIENT = new URL('../../dist/client/index.js', import.meta.url).href;

/** Runs a program over the client API, with a store and a home of its own, until it ends by itself. */
async function program(text: string): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const services = inject('services');
  const name = `lib_${newName()}`;
  const url = new URL(services.postgresUrl);
  url.pathname = `/${name}`;
  const home = await mkdtemp(join(tmpdir(), 'trialbed-library-'));
  const env = {
    PATH: process.env.PATH,
    TRIALBED_DATABASE_URL: url.href,
    TEMPORAL_ADDRESS: services.temporalAddress,
    TRIALBED_TASK_QUEUE: name,
    TRIALBED_HOME: home,
    TRIALBED_LOG_LEVEL: 'error',
  };
  try {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', text], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, stdout, stderr };
  } finally {
    await rm(home, { recursive: true, force: true });
    const client = new pg.Client({ connectionString: services.postgresUrl });
    await client.connect();
    await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
    await client.end();
  }
}

/** Sockets that are closing need a moment; what is there much later, such as a long poll, would have kept the process. It does not itself. */
const LINGERING = `setTimeout(() => console.log('still here', process.getActiveResourcesInfo()), 10_000).unref()`;

test('a program that runs a batch, reads its results and closes the client ends by itself, and nothing of ours keeps it', { timeout: 120_000 }, async () => {
  const ended = await program(`
    import { connect, writeBatchReport } from '${CLIENT}';
    {
      await using bed = await connect();
      const batch = await bed.run({ suite: 'support-desk', cases: ['price-question'], agents: ['reference'], trials: 2 });
      for await (const event of batch.events()) if (event.type === 'trial') console.log(event.pass);
      const { data } = await writeBatchReport(bed, { batch: batch.id, folder: process.env.TRIALBED_HOME + '/report', summary: await batch.result(), gates: ['pass>=0.5'] });
      console.log(data.summary.gate, (await bed.results(batch.id)).trials.length);
    }
    ${LINGERING};
  `);
  expect(ended.stderr).toBe('');
  expect(ended.stdout.trim().split('\n')).toEqual(['pass', 'pass', 'met 2']);
  expect(ended.code).toBe(0);
});

test('a client that is closed while a batch runs interrupts it, takes no more requests, and ends too', { timeout: 120_000 }, async () => {
  const ended = await program(`
    import { ClosedError, connect } from '${CLIENT}';
    const request = { suite: 'support-desk', cases: ['price-question'], agents: ['reference'], trials: 12, concurrency: 2 };
    const bed = await connect();
    const batch = await bed.run(request);
    for await (const event of batch.events()) if (event.type === 'trial') break;
    await bed[Symbol.asyncDispose]();
    console.log((await batch.result()).gate, await bed.run(request).catch((error) => error instanceof ClosedError));
    {
      await using again = await connect();
      console.log((await again.batches()).map(({ state }) => state).join());
      const resumed = await again.run(request);
      console.log(resumed.resumed, resumed.id === batch.id, (await resumed.result()).passed);
    }
    ${LINGERING};
  `);
  expect(ended.stderr).toBe('');
  expect(ended.stdout.trim().split('\n')).toEqual(['not_met true', 'interrupted', 'true true 12']);
  expect(ended.code).toBe(0);
});
