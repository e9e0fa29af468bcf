import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { timelineLines } from '../../src/cli/trial-timeline.ts';
import { trialbedOver } from '../../src/client/index.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { AgentServices } from '../../src/environments/agent.ts';
import { collectReport } from '../../src/report/collect.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { type AgentServer, type Asked, callTool, startAgentServer } from '../harness/agent-server.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const container = await requireOrSkip('container');

let testbed: Testbed;
let server: AgentServer;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-direct-'));
  server = await startAgentServer({
    'POST acts': async ({ start, response }: Asked) => {
      await act(start.services as AgentServices);
      response.end('I changed the phone and wrote a mail.');
    },
    'POST both': async ({ start, response }: Asked) => {
      await withClient((start.services as AgentServices).sql?.url ?? '', (client) => client.query("insert into notes (body) values ('by hand')"));
      await callTool(start, 'act', { how: '', body: 'by the server' });
      response.end('Both are there.');
    },
    // What no agent can do: the administrator writes past the journal.
    'POST cheats': async ({ start, response }: Asked) => {
      const url = new URL((start.services as AgentServices).sql?.url ?? '');
      const admin = new URL(inject('services').postgresUrl);
      admin.pathname = url.pathname;
      await withClient(admin.href, async (client) => {
        const { rows } = await client.query<{ schema: string }>("select schemaname as schema from pg_tables where tablename = 'customers'");
        await client.query(`set search_path = ${pg.escapeIdentifier(rows[0]?.schema ?? '')}`);
        await client.query('alter table customers add column nickname text');
        await client.query("set session_replication_role = 'replica'");
        await client.query("update price_list set product = 'changed in silence' where id = (select min(id) from price_list)");
      });
      response.end('I changed nothing.');
    },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function act({ sql, inbox, tickets }: AgentServices): Promise<void> {
  await withClient(sql?.url ?? '', (client) => client.query("update customers set phone = '+49 1' where id = 1007"));
  const { host, port, user, password } = inbox ?? { host: '', port: 0, user: '', password: '' };
  await createTransport({ host, port, ignoreTLS: true, auth: { user, pass: password } }).sendMail({
    from: 'me@example.org',
    to: 'you@example.org',
    text: 'Done.',
  });
  const response = await fetch(`${tickets?.url}/tickets/214`, { headers: { ...tickets?.headers } });
  if (!response.ok) throw new Error(`the ticket service answered ${response.status}`);
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function run(
  name: string,
  agent: JsonObject,
  effects: readonly JsonObject[],
  { environment = 'support-desk', isolation = 'database' }: { readonly environment?: string; readonly isolation?: 'database' | 'container' } = {},
) {
  const kase = { expects_nothing: effects.length === 0, expect: { outcomes: [{ name: 'as asked', effects }] } };
  const suite = await writeOneCaseSuite(folder, name, { environment, agent: { access: 'direct', ...agent }, kase });
  const { trials } = await testbed.run({ ...suite, keep: 'never', isolation });
  const trial = trials[0] as TrialSummary;
  const record = await testbed.root.store.record(trial.trial, trial.attempt);
  if (!record) throw new Error(`the trial has no record: ${trial.why}`);
  return { trial, record };
}

const EFFECTS: readonly JsonObject[] = [
  { row: 'customers', change: 'update', where: { id: 1007, phone: '+49 1' } },
  { mail: ['you@example.org'], body: { says: ['Done'] } },
];

it('what an agent does by clients of its own is seen as of no operation and graded the same, and the missing ledger is told', async () => {
  const { trial, record } = await run('acts', { kind: 'http', url: `${server.url}/acts` }, EFFECTS);
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 0 });
  expect(record.effects.map(({ kind, operation }) => [kind, operation])).toEqual([
    ['row', null],
    ['mail', null],
  ]);
  expect(record.ownAccess).toEqual({ services: ['inbox', 'sql', 'tickets'], unexplained: [] });
  const client = trialbedOver(testbed.root, async () => {});
  const report = reportMarkdown(await collectReport(client, await client.results(trial.batch)));
  expect(report).toContain('in 1 of 1 trials the agent had clients of its own (inbox, sql, tickets). The ledger');
  const shown = timelineLines(await client.show(trial.trial), 200, (_, text) => text).join('\n');
  expect(shown).toContain('missing for what the agent did by clients of its own (inbox, sql, tickets)');
});

it('beside tools of a server, each effect is of whoever had it', async () => {
  const environment = resolve('test/fixtures/packs/served/pack.ts');
  const expected = ['by hand', 'by the server'].map((body) => ({ row: 'notes', change: 'insert', where: { body } }));
  const { trial, record } = await run('both', { kind: 'http', url: `${server.url}/both` }, expected, { environment });
  expect(record.effects.map((effect) => [effect.kind === 'row' && effect.after?.['body'], effect.operation])).toEqual([
    ['by hand', null],
    ['by the server', 'op-1'],
  ]);
  expect(record.ownAccess).toMatchObject({ unexplained: [] });
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 1 });
});

it.skipIf(!container.met)(skipTitle('in a container of its own it is the same', container), async () => {
  const { trial, record } = await run('contained', { kind: 'http', url: `${server.url}/acts` }, EFFECTS, { isolation: 'container' });
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', calls: 0 });
  expect(record.effects.map(({ kind, operation }) => [kind, operation])).toEqual([
    ['row', null],
    ['mail', null],
  ]);
  expect(record.ownAccess).toEqual({ services: ['inbox', 'sql', 'tickets'], unexplained: [] });
  expect(await testbed.root.worlds.leased(`${trial.batch}-`)).toBe(0);
});

it('what nobody asked for fails it', async () => {
  const { trial } = await run('too-much', { kind: 'http', url: `${server.url}/acts` }, EFFECTS.slice(0, 1));
  expect(trial).toMatchObject({ pass: 'fail', effects: 'fail' });
});

it('what differs from the seed and stands in no journal is found, catalogue included', async () => {
  const { trial, record } = await run('cheats', { kind: 'http', url: `${server.url}/cheats` }, []);
  expect(record.problem).toBeNull();
  expect(record.effects).toEqual([]);
  expect(record.ownAccess?.unexplained).toEqual(expect.arrayContaining(['catalogue', 'table price_list']));
  expect(trial).toMatchObject({ pass: 'fail', effects: 'fail' });
  expect(trial.why).toContain('differs from its seed');
});

it('a program finds addresses and credentials in its environment', async () => {
  const agent = { kind: 'command', folder: resolve('test/fixtures/agents/programs'), program: 'python3', args: ['direct.py'] };
  const { trial, record } = await run('program', agent, []);
  expect(trial).toMatchObject({ ending: 'completed', pass: 'fail' });
  expect(record.messages.at(-1)?.text).toBe('[214, "postgres"]');
  expect(record.effects).toMatchObject([{ kind: 'mail', accepted: true, operation: null, subject: 'Own mail' }]);
});

it('needs worlds with a database of their own, whatever the kind of the agent', async () => {
  const suite = await writeOneCaseSuite(folder, 'schema', { environment: 'support-desk', agent: { kind: 'http', url: server.url, access: 'direct' } });
  await expect(testbed.run({ ...suite, keep: 'never' })).rejects.toMatchObject({ code: 'agent_access' });
});
