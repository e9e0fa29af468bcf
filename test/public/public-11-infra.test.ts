import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import type { TrialStatus } from '../../src/workflows/messages.ts';
import { until } from '../chaos/until.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bench, expecting, module, script, startBench } from './bench.ts';

const MAIL = { to: ['one@example.org'], subject: 'Hello', text: 'Hello.' };

describe('public-11: trouble of the infrastructure is no result of the agent', () => {
  let bench: Bench;
  let store: pg.Client;
  beforeAll(async () => {
    bench = await startBench(inject('services'));
    store = new pg.Client({ connectionString: bench.testbed.config.store.url });
    await store.connect();
  });
  afterAll(async () => {
    await store.end();
    await bench[Symbol.asyncDispose]();
  });

  it('public-11 (a): a world that cannot be made is neither 0 nor 1, counted, shown, and flags the run', async () => {
    const wrong = await bench.write({ agent: script([]), kase: { state: [{ update: 'accounts', where: { id: 'nobody' }, set: { status: 'x' } }] } });
    const { trials, summary } = await bench.testbed.run({ ...wrong, trials: 2, keep: 'never' });
    expect(trials).toMatchObject([
      { ending: 'infra_error', pass: null, outcome: null, constraints: null, effects: null },
      { ending: 'infra_error', pass: null },
    ]);
    expect(trials[0]?.why).toContain('provision');
    expect(summary).toMatchObject({ trials: 2, passed: 0, failed: 0, undetermined: 0, infraErrors: 2, gate: 'infrastructure' });
    expect(await bench.testbed.root.worlds.leased(`${summary.batch}-`)).toBe(0);
  });

  it('public-11 (b): a grader that finds no end after a clean end of the agent is stopped; others are graded meanwhile', async () => {
    const endless = {
      expect: { outcomes: [{ name: 'mail', effects: [{ mail: ['one@example.org'], subject: { matches: '^(a+)+$' } }] }] },
      expects_nothing: false,
    };
    const suite = await bench.write({ agent: script([{ call: 'send_mail', with: { ...MAIL, subject: `${'a'.repeat(60)}!` } }]), kase: endless });
    const [{ trials, summary }, other] = await Promise.all([
      bench.testbed.run({ ...suite, keep: 'never' }),
      bench.play({ agent: script([{ call: 'send_mail', with: MAIL }]), kase: expecting({ mail: ['one@example.org'] }) }),
    ]);
    expect(trials).toMatchObject([{ ending: 'infra_error', pass: null, attempt: 1 }]);
    expect(trials[0]?.why).toContain('grading took more than');
    expect(summary).toMatchObject({ passed: 0, failed: 0, infraErrors: 1, gate: 'infrastructure', worlds: { leaked: 0 } });
    expect(other.trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1 });
  });

  it('public-11 (c): a verdict that cannot be kept is no failure of the agent', async () => {
    await store.query('alter table trialbed.verdicts add constraint no_more check (false) not valid');
    try {
      const { trials, summary } = await bench.testbed.run({ ...(await bench.write({ agent: script([]) })), keep: 'never' });
      expect(trials).toMatchObject([{ ending: 'infra_error', pass: null, attempt: 3 }]);
      expect(summary).toMatchObject({ passed: 0, failed: 0, infraErrors: 1, gate: 'infrastructure', worlds: { leaked: 0 } });
    } finally {
      await store.query('alter table trialbed.verdicts drop constraint no_more');
    }
  });

  it('public-11: what could be scored keeps its score beside what could not', async () => {
    const suite = await bench.write({ agent: script([]) });
    await writeFile(
      join(suite.suite, 'cases', 'broken.yaml'),
      'title: b\nkind: test\nrequest: Do it.\nexpects_nothing: true\nstate: [{ update: accounts, where: { id: nobody }, set: { status: x } }]\nexpect: { outcomes: [{ name: none, effects: [] }] }\nreference: { answer: Done. }\n',
    );
    const { trials, summary } = await bench.testbed.run({ ...suite, trials: 3, keep: 'never' });
    expect(trials).toHaveLength(6);
    expect(summary).toMatchObject({ trials: 6, passed: 3, failed: 0, infraErrors: 3, gate: 'infrastructure' });
  });
});

describe('public-12: an agent that never returns', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(inject('services'));
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it.each([
    ['waits and ignores that it is asked to end', 'hangs.ts', {}],
    ['lets nothing else run in its process', 'spins.ts', {}],
  ])('public-12: %s: ends by its deadline, its world is released, and others finish as ever', async (_how, file, parameters) => {
    const send = script([{ call: 'send_mail', with: MAIL }]);
    const one = expecting({ mail: ['one@example.org'] });
    const [hung, ...others] = await Promise.all([
      bench.play({ agent: module(file, parameters), kase: { budget: { wall: '2s' } } }),
      ...[1, 2, 3].map(() => bench.play({ agent: send, kase: one })),
    ]);
    expect(hung?.trial).toMatchObject({ ending: 'agent_timeout', pass: 'pass', attempt: 1 });
    expect(await bench.testbed.root.worlds.leased(`${hung?.trial.batch}-`)).toBe(0);
    for (const other of others) expect(other?.trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1, disturbed: false });
  });

  it('public-12: that hangs after its write is graded on what it left', async () => {
    const { trial } = await bench.play({
      agent: module('tells-problems.ts', { calls: [{ tool: 'send_mail', args: MAIL }], stays: true }),
      kase: { budget: { wall: '3s' }, ...expecting({ mail: ['one@example.org'] }) },
    });
    expect(trial).toMatchObject({ ending: 'agent_timeout', effects: 'pass', outcome: 'pass', calls: 1 });
  });
});

describe('public-s3: a connection that idles in a transaction', () => {
  it.each(['schema', 'database'] as const)('public-s3: keeps no world (%s) from being torn down, and is ended', { timeout: 180_000 }, async (isolation) => {
    await using bench = await startBench(inject('services'));
    const { root } = bench.testbed;
    const gate = join(bench.folder, 'go');
    const suite = await bench.write({
      agent: module('calls.ts', {
        calls: [
          { tool: 'charge', args: { account: 'a-1', amount: 1 } },
          { tool: 'await_file', args: { file: gate } },
        ],
      }),
      kase: expecting({ row: 'charges', change: 'insert' }),
    });
    const playing = bench.testbed.run({ ...suite, keep: 'never', isolation });
    const world = await until('the trial has a world', async () => {
      for (const batch of await root.store.batches({})) {
        for (const trial of await root.store.trials(batch.id)) {
          const [attempt] = await root.store.attempts(trial.id);
          if (trial.phase !== 'drive') continue;
          const { inFlight } = await root.temporal.workflow.getHandle(trial.id).query<TrialStatus>('status');
          if (attempt?.world && inFlight.includes('op-2 await_file')) return attempt.world.id;
        }
      }
      return null;
    });
    const admin = new pg.Client({ connectionString: inject('services').postgresUrl });
    await admin.connect();
    const { rows: own } = await admin.query<{ name: string }>("select datname as name from pg_database where datname like '%' || $1 || '%'", [world]);
    await admin.end();
    const idle = new pg.Client({ connectionString: withDatabase(inject('services').postgresUrl, own[0]?.name ?? 'trialbed_worlds') });
    idle.on('error', () => undefined);
    await idle.connect();
    try {
      const { rows: tables } = await idle.query<{ name: string }>(
        "select format('%I.%I', schemaname, tablename) as name from pg_tables where tablename = 'charges' and (schemaname like '%' || $1 || '%' or $2)",
        [world, isolation === 'database'],
      );
      await idle.query(`begin; lock table ${tables[0]?.name} in access exclusive mode`);
      await writeFile(gate, '');
      const { trials, summary } = await playing;
      expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt: 1 }]);
      expect(summary.worlds).toMatchObject({ leaked: 0 });
      expect(await root.worlds.leased(`${summary.batch}-`)).toBe(0);
      await expect(idle.query('select 1')).rejects.toThrow();
    } finally {
      await idle.end().catch(() => undefined);
    }
  });
});
