import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { collectReport } from '../../src/report/collect.ts';
import { writeReport } from '../../src/report/report.ts';
import { countBatch } from '../../src/client/summarise.ts';
import { show } from '../../src/client/show.ts';
import type { Store } from '../../src/store/store.ts';
import { createStore } from '../../src/store/postgres-store.ts';
import { CASE_HASH, DOCUMENTS, makeDatabase, planOf } from '../integration/store-fixture.ts';

const TRIALS = 10_000;
/** What a report may hold beside its facts: pages, not the batch. */
const MEMORY_MIB = 400;

test('a report of 10,000 trials reads them in pages, and evidence of a few only', async () => {
  await using database = await makeDatabase(inject('services').postgresUrl);
  await using store = await createStore({ url: database.url, connections: 4 });
  await store.migrate();
  await store.putDocuments(DOCUMENTS);
  await store.createBatch(planOf('big', TRIALS));
  await fill(database.query);
  const before = process.memoryUsage().rss;
  let most = before;
  let pages = 0;
  let shown = 0;
  const startedAt = performance.now();
  const batch = await store.batch('big');
  if (batch === null) throw new Error('big');
  const counted: Pick<Store, 'trials' | 'facts' | 'modelCallsOf' | 'judging'> = {
    trials: (id) => store.trials(id),
    modelCallsOf: (id) => store.modelCallsOf(id),
    judging: store.judging,
    async *facts(id) {
      for await (const page of store.facts(id)) {
        pages++;
        most = Math.max(most, process.memoryUsage().rss);
        yield page;
      }
    },
  };
  const today = new Date().toISOString();
  const data = await collectReport(
    {
      documents: async (id) => ({ ...(await store.documentsOf(id)), approvals: await store.approvalsOf(id) }),
      show(id) {
        shown++;
        return show(store, id);
      },
    },
    { batch, today, ...(await countBatch(counted, batch, { seconds: 60, worlds: { leased: 0, unlike: 0 }, today })) },
  );
  const collectedMs = performance.now() - startedAt;
  const folder = await mkdtemp(join(tmpdir(), 'report-big-'));
  try {
    const files = await writeReport(folder, data);
    most = Math.max(most, process.memoryUsage().rss);
    const sizes = await Promise.all(
      Object.values<string | undefined>({ ...files }).map(async (path) => `${path?.split('/').at(-1)} ${(await stat(path ?? '')).size}`),
    );
    const mib = Math.round((most - before) / 2 ** 20);
    process.stdout.write(
      `collected in ${Math.round(collectedMs)} ms, all in ${Math.round(performance.now() - startedAt)} ms, ${mib} MiB more at most; ${sizes.join(', ')}\n`,
    );
    expect(mib).toBeLessThan(MEMORY_MIB);
    expect((await stat(files.markdown ?? '')).size).toBeLessThan(65_536);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  expect(pages).toBe(TRIALS / 250);
  expect(shown).toBeLessThan(70);
  expect(data.facts).toHaveLength(TRIALS);
  expect(data.rates[0]?.views.pass).toMatchObject({ count: 7_500, of: 10_000 });
  expect(data.failures.categories).toMatchObject([
    { category: 'forbidden_effect', trials: 2_500 },
    { category: 'uncategorised', trials: 0 },
  ]);
  expect(data.facts[3]?.tokens).toEqual({ input: 100, output: 10 });
}, 240_000);

/** Attempts, verdicts of some kilobytes and calls of models, as ten thousand trials leave them. */
async function fill(query: (text: string, values?: unknown[]) => Promise<unknown>): Promise<void> {
  const findings = Array.from({ length: 20 }, (_, at) => ({
    code: 'forbidden_effect',
    judgement: 'fail',
    rule: 'closed world',
    message: `An insert into refunds (id ${at}) is neither expected nor allowed.`,
    found: { table: 'refunds', body: 'x'.repeat(300) },
    operations: ['op-1'],
  }));
  const view = { judgement: 'pass', findings: [] };
  const diagnostics = {
    calls: 3,
    callsByTool: {},
    rejectedCalls: 0,
    unknownTools: 0,
    invalidArguments: 0,
    deniedCalls: 0,
    repeatedCalls: 0,
    emptyRetrievals: 0,
    noOpWrites: 0,
    unattributedEffects: 0,
    lateAttempts: 0,
    disturbed: false,
  };
  const verdict = { pass: 'pass', outcome: view, constraints: view, effects: view, reached: null, diagnostics, graderVersion: '1', caseHash: CASE_HASH };
  const failed = { ...verdict, pass: 'fail', effects: { judgement: 'fail', findings } };
  const summary = {
    type: 'trial',
    batch: 'big',
    case: 'refund',
    schedule: 'none',
    agent: 'reference',
    attempt: 1,
    ending: 'completed',
    constraints: 'pass',
    outcome: 'pass',
    calls: 3,
    durationMs: 900,
    disturbed: false,
    snapshot: null,
  };
  await query(`update trialbed.trials set attempt = 1, phase = 'done', settled = ordinal where batch = 'big'`);
  await query(
    `insert into trialbed.attempts (trial, attempt, started_at, ended_at, ending, summary)
     select id, 1, now(), now(), 'completed', ($1::jsonb || jsonb_build_object('trial', id, 'repetition', repetition, 'why', null, 'pass', j, 'effects', j))::json
     from (select *, case when ordinal % 4 = 0 then 'fail' else 'pass' end as j from trialbed.trials where batch = 'big') t`,
    [JSON.stringify(summary)],
  );
  await query(
    `insert into trialbed.verdicts (trial, attempt, grader_version, case_hash, graded_at, body)
     select id, 1, '1', $1, now(), case when ordinal % 4 = 0 then $2::json else $3::json end from trialbed.trials where batch = 'big'`,
    [CASE_HASH, JSON.stringify(failed), JSON.stringify(verdict)],
  );
  const usage = { input: 100, output: 10, cached: null, reasoning: null };
  const asked = { route: 'r', url: null, model: 'm', reported: 'm-1', parameters: {}, seed: null };
  const price = { amount: 0.5, currency: 'USD' };
  const end = { latencyMs: 5, tries: 1, end: 'replied', problem: null, at: '2026-03-02T09:30:00Z' };
  const call = { id: 'c', who: 'agent', agent: null, source: 'loop', ...asked, usage, price, ...end };
  await query(
    `insert into trialbed.model_calls (trial, attempt, id, who, source, route, body, input_tokens, output_tokens, price, currency, latency_ms, tries, ended_at)
     select id, 1, 'c', 'agent', 'loop', 'r', $1::json, 100, 10, 0.5, 'USD', 5, 1, now() from trialbed.trials where batch = 'big'`,
    [JSON.stringify(call)],
  );
}
