import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { trialbedOver, writeBatchReport } from '../../src/client/index.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import { run } from '../../src/client/run.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { WORLDS_DATABASE } from '../../src/environments/hosts/migrations.ts';
import { startTestbed } from '../harness/testbed.ts';
import { blobs, moduleAgent } from './core-trials.ts';

const VARIABLE = 'TRIALBED_TEST_SECRET';

it('tables of the store, histories, logs and reports hold no secret: not that of an agent, not those of its world', async () => {
  const secret = `sk-${randomBytes(18).toString('hex')}`;
  process.env[VARIABLE] = secret;
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => {
    delete process.env[VARIABLE];
  });
  await using testbed = await startTestbed(inject('services'), { worker: false, config: { logLevel: 'debug' } });
  const { root, config } = testbed;
  await using suites = await blobs(testbed, 'secrets');
  const worker = cleanup.use(await startWorkerProcess(config));
  // A call that fails in the database and one that waits, so that details are kept and the world can be looked at while it is leased.
  const calls = [
    { tool: 'add_twice', args: { body: 'a' } },
    { tool: 'defect', args: { message: 'broken' } },
    { tool: 'wait', args: { ms: 5_000 } },
  ];
  const agent = { ...moduleAgent('keeps-secret.ts', { variable: VARIABLE, calls }), env: [VARIABLE] };
  const handle = await run(root, { ...(await suites.write(agent)), keep: 'always' }, worker.broken);
  const secrets = await secretsWhileLeased(handle.id);
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  const [trial] = trials;
  expect(trial).toMatchObject({ ending: 'completed', calls: 3 });
  // The agent really had it.
  expect((await suites.record(trial as TrialSummary)).messages.at(-1)?.text).toContain(`length ${secret.length}`);

  const folder = await mkdtemp(join(tmpdir(), 'trialbed-secrets-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  await writeBatchReport(
    trialbedOver(root, async () => {}),
    { batch: handle.id, folder },
  );
  const history = historyToJSON(await root.temporal.workflow.getHandle(trial?.trial ?? '').fetchHistory());
  const places = {
    store: await storeText(config.store.url),
    history: history + decoded(history),
    logs: await filesText(join(config.home, 'logs')),
    report: await filesText(folder),
  };
  const known = [secret, ...secrets, decodeURIComponent(new URL(config.store.url).password)].filter((one) => one.length >= 8);
  expect(known.length).toBeGreaterThanOrEqual(3);
  for (const [place, text] of Object.entries(places)) {
    expect(`${place}: ${text.length > 500}`).toBe(`${place}: true`);
    for (const [at, one] of known.entries()) {
      for (const form of [one, encodeURIComponent(one), Buffer.from(one).toString('base64').replace(/=+$/, '').slice(0, -2)]) {
        expect(`${place}, secret ${at}: ${text.includes(form)}`).toBe(`${place}, secret ${at}: false`);
      }
    }
  }
});

/** Passwords and tokens of a batch's world, read from the registry of its host while the world is leased. */
async function secretsWhileLeased(batch: string): Promise<string[]> {
  const registry = new URL(inject('services').postgresUrl);
  registry.pathname = `/${WORLDS_DATABASE}`;
  return withDatabase(registry.href, async (client) => {
    const deadline = Date.now() + 60_000;
    while (Date.now() < deadline) {
      const { rows } = await client.query<{ tool: string; agent: string; host: string }>(
        `select w.tool_secret as tool, w.agent_secret as agent, (select value from trialbed.settings where name = 'tool_password') as host
         from trialbed.worlds w where w.owner like $1 and w.tool_secret is not null`,
        [`${batch}-%`],
      );
      const [row] = rows;
      if (row) return [row.tool, row.agent, row.host];
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error('no world was leased');
  });
}

/** Every table of the store as text. */
async function storeText(url: string): Promise<string> {
  return withDatabase(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      texts.push(...rows.map((row) => row.text));
    }
    return texts.join('\n');
  });
}

async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Payloads of a history, which are base64 in its JSON. */
function decoded(history: string): string {
  return [...history.matchAll(/"data": ?"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) => Buffer.from(data, 'base64').toString()).join('\n');
}

async function filesText(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
