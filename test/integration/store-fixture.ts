import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Case } from '../../src/domain/case.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { createStore } from '../../src/store/postgres-store.ts';
import type { BatchPlan, Store } from '../../src/store/store.ts';

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** An empty database on the server of the URL, dropped at the end. */
export async function makeDatabase(adminUrl: string): Promise<TestDatabase> {
  const name = `store_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => undefined);
  await client.connect();
  return {
    url: url.href,
    query: async (text, values = []) => (await client.query(text, values)).rows,
    async [Symbol.asyncDispose]() {
      await client.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** A migrated store over a database of its own, with {@link DOCUMENTS} in it and a clock that goes on by a second each time it is read. */
export interface OpenedStore extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly store: Store;
  /** A batch of so many trials under an id that no other test has. */
  batchOf(trials: number): Promise<{ readonly id: string; readonly trial: string }>;
}

export async function openStore(adminUrl: string): Promise<OpenedStore> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await makeDatabase(adminUrl));
  let clock = Date.parse('2026-03-02T08:00:00.000Z');
  const now = (): Date => {
    clock += 1000;
    return new Date(clock);
  };
  const store = stack.use(await createStore({ url: database.url, now }));
  await store.migrate();
  await store.putDocuments(DOCUMENTS);
  const owned = stack.move();
  return {
    database,
    store,
    async batchOf(trials) {
      const id = `b${randomUUID().replaceAll('-', '')}`;
      await store.createBatch(planOf(id, trials));
      return { id, trial: `${id}-0001` };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export const CASE: Case = {
  id: 'refund',
  title: 'Refund',
  kind: 'refund',
  tags: ['smoke'],
  turns: ['Refund order 1007.'],
  permission: { user: 'mara', role: 'agent', tools: ['issue_refund'], attributes: {} },
  clock: '2026-03-02T09:30:00+01:00',
  timezone: 'Europe/Berlin',
  budget: { calls: 30, wallMs: 60_000, turns: 1 },
  state: [],
  expectsNothing: false,
  expect: { outcomes: [{ name: 'refunded', effects: [] }], allowed: [], forbidden: [], constraints: [], claims: [], repeatedWrites: 'forbid' },
  reference: { steps: [], answer: 'Done.' },
  mutants: [],
};

export const CASE_HASH = 'c'.repeat(64);
export const AGENT_HASH = 'a'.repeat(64);

export const DOCUMENTS = {
  cases: [{ hash: CASE_HASH, kase: CASE }],
  agents: [{ hash: AGENT_HASH, spec: { name: 'reference', version: '1', kind: 'reference' as const } }],
};

export function planOf(id: string, trials: number, changes: Partial<BatchPlan> = {}): BatchPlan {
  return {
    id,
    suite: 'support-desk',
    suiteFile: '/suites/support-desk/suite.yaml',
    manifestHash: `manifest of ${id}`,
    environment: { name: 'support-desk', version: '1', file: '/packs/support-desk/pack.ts', options: { size: 'small' }, generation: 'g' },
    seed: id,
    options: { isolation: 'schema', keep: 'failed', concurrency: 8, retries: 2 },
    sources: { suite: { commit: 'abc', dirty: false } },
    trials: Array.from({ length: trials }, (_, index) => ({
      id: `${id}-${String(index + 1).padStart(4, '0')}`,
      caseId: CASE.id,
      caseHash: CASE_HASH,
      agentName: 'reference',
      agentHash: AGENT_HASH,
      schedule: 'none',
      scheduleHash: null,
      repetition: index + 1,
    })),
    ...changes,
  };
}

export function recordOf(changes: Partial<TrialRecord> = {}): TrialRecord {
  return { ending: 'completed', operations: [], effects: [], messages: [], lateAttempts: [], tables: {}, referenceEffects: null, problem: null, ...changes };
}

export function summaryOf(trial: string, attempt: number, changes: Partial<TrialSummary> = {}): TrialSummary {
  return {
    type: 'trial',
    trial,
    batch: trial.split('-')[0] ?? '',
    case: CASE.id,
    schedule: 'none',
    agent: 'reference',
    repetition: 1,
    attempt,
    ending: 'completed',
    pass: 'pass',
    outcome: 'pass',
    constraints: 'pass',
    effects: 'pass',
    why: null,
    calls: 2,
    durationMs: 40,
    disturbed: false,
    snapshot: null,
    ...changes,
  };
}

export function verdictOf(changes: Partial<Verdict> = {}): Verdict {
  const view = { judgement: 'pass' as const, findings: [] };
  return {
    pass: 'pass',
    outcome: view,
    constraints: view,
    effects: view,
    reached: 'refunded',
    diagnostics: {
      calls: 2,
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
    },
    graderVersion: '1',
    caseHash: CASE_HASH,
    ...changes,
  };
}

export const OPERATION = {
  id: 'op1',
  seq: 1,
  tool: 'write_note',
  effect: 'write' as const,
  args: {},
  idempotencyKey: null,
  position: 1,
  told: 'committed' as const,
  known: 'committed' as const,
  result: null,
  problem: null,
  durationMs: 3,
  at: '2026-03-02T08:30:00.000Z',
  disturbed: false,
};
