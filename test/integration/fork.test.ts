import { appendFile, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import { decide } from '../../src/client/approvals.ts';
import { fork, type ForkRequest } from '../../src/client/fork.ts';
import { PointRefusedError } from '../../src/client/points/errors.ts';
import { historyOf } from '../../src/client/points/history.ts';
import { isWedged } from '../../src/client/points/temporal-reset.ts';
import { reset } from '../../src/client/reset.ts';
import { run } from '../../src/client/run.ts';
import { startBatch } from '../../src/client/start-batch.ts';
import { wakeBatch } from '../../src/client/wake-batch.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { WorldSnapshot } from '../../src/environments/world.ts';
import { snapshotAt } from '../../src/environments/worlds/snapshot-at.ts';
import { until } from '../chaos/until.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { sendPoisonedSignal } from '../harness/poisoned-signal.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

/** Twelve operations: reads, a write whose reply is lost, a look-up, mails, tickets, a key, the clock; with faults that tools and services count. */
const STEPS: readonly JsonObject[] = [
  { call: 'get_ticket', with: { ticket_id: 225 } },
  { call: 'get_order', with: { order_id: 5055 } },
  { call: 'wait', with: { seconds: 20 } },
  { call: 'get_order', with: { order_id: 5055 }, as: 'order' },
  { call: 'issue_refund', with: { order_id: 5055, amount: '${order.total}', reason: 'lost' }, as: 'refund' },
  { call: 'get_operation', with: { operation: '${refund!operation}' } },
  { call: 'send_mail', with: { to: ['kacper.wojcik@example.net'], subject: 'Your order 5055', text: 'We have refunded your order 5055.' } },
  { call: 'create_ticket', with: { subject: 'Order 5055', body: 'The parcel was lost.', requester: 'kacper.wojcik@example.net' } },
  { call: 'create_ticket', with: { subject: 'Order 5055', body: 'The parcel was lost.', requester: 'kacper.wojcik@example.net' } },
  { call: 'comment_ticket', with: { ticket_id: 225, body: 'Refunded, and logistics knows.', public: false } },
  { call: 'schedule_follow_up', with: { customer_id: 1, kind: 'call', due_at: '2026-03-05T09:00:00+01:00', note: 'Ask for the parcel.' }, key: 'follow-up' },
  { call: 'send_mail', with: { to: ['lager@nordlicht.example'], subject: 'Order 5055', text: 'The parcel of order 5055 was lost.' } },
];
const FAULTS = {
  title: 'Much goes wrong',
  faults: [
    { on: 'get_order', call: 1, fault: 'rate_limited', retry_after: '10s' },
    { on: 'issue_refund', call: 1, fault: 'timeout_after_commit' },
    { on: { service: 'tickets' }, call: 3, fault: 'unavailable' },
    {
      on: 'comment_ticket',
      call: 1,
      fault: 'concurrent_change',
      when: 'after',
      changes: [{ update: 'tickets', where: { id: 225 }, set: { priority: 'low' } }],
    },
    { on: { service: 'inbox' }, call: 2, fault: 'duplicate_delivery' },
  ],
};
const COUNTS = STEPS.map((_, index) => index + 1);
const CALLS = resolve('test/fixtures/agents/calls.ts');

let testbed: Testbed;
let folder: string;
let suite: string;
let whole: TrialSummary;
/** Final snapshots of runs that nobody disturbed, by the number of their operations. */
const undisturbed = new Map<number, WorldSnapshot>();

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-fork-'));
  const user = { name: 'mara', role: 'agent', approval: [{ tool: 'cancel_order' }] };
  ({ suite } = await writeOneCaseSuite(folder, 'forked', {
    environment: 'support-desk',
    agent: { kind: 'script', steps: [], answer: 'Done.' },
    kase: { user },
    faults: { rough: FAULTS },
  }));
  await mkdir(join(suite, 'agents'));
  for (const count of COUNTS) await writeAgent(`first-${count}`, STEPS.slice(0, count));
  await writeAgent('stuck', [...STEPS, { call: 'cancel_order', with: { order_id: 5046, reason: 'customer_request' } }]);
  const calls = STEPS.slice(0, 4).map((step) => ({ tool: step['call'] ?? '', args: step['with'] ?? {} }));
  const another = { tool: 'get_ticket', args: { ticket_id: 216 } };
  await writeModule('module-same', [...calls, ...calls.slice(3)]);
  await writeModule('module-other', [...calls.slice(0, 1), another]);
  await copyFile(CALLS, join(folder, 'edited.ts'));
  await writeModule('edited', [], join(folder, 'edited.ts'));
  await writeAgent('other', [STEPS[0] ?? {}, { call: 'get_ticket', with: { ticket_id: 216 } }]);
  const { trials } = await testbed.run({
    suite,
    agents: COUNTS.map((count) => `first-${count}`),
    faults: ['rough'],
    seed: 'one',
    keep: 'always',
    concurrency: 12,
  });
  for (const trial of trials) undisturbed.set(Number(trial.agent.slice('first-'.length)), await snapshotOf(trial));
  const last = trials.find(({ agent }) => agent === `first-${STEPS.length}`);
  if (!last) throw new Error('the batch has no whole trial');
  whole = last;
}, 60_000);
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function writeAgent(name: string, steps: readonly JsonObject[]): Promise<void> {
  await writeFile(join(suite, 'agents', `${name}.yaml`), stringify({ name, version: '1', kind: 'script', steps, answer: 'Done.' }));
}

/** An agent with code of its own, which makes these calls. */
async function writeModule(name: string, calls: readonly JsonObject[], file = CALLS): Promise<void> {
  await writeFile(join(suite, 'agents', `${name}.yaml`), stringify({ name, version: '1', kind: 'module', file, parameters: { calls } }));
}

async function snapshotOf({ snapshot }: TrialSummary): Promise<WorldSnapshot> {
  const stored = snapshot === null ? null : await testbed.root.store.snapshot(snapshot);
  if (!stored) throw new Error('no snapshot was kept');
  return stored.snapshot as unknown as WorldSnapshot;
}

/** Without what no two runs have in common: real time, numbers of log entries, and the world's id in what it sent. */
function comparable(snapshot: WorldSnapshot): JsonObject {
  const { past: _past, ...rest } = snapshot as WorldSnapshot & { readonly past?: unknown };
  const text = JSON.stringify({
    ...rest,
    operations: rest.operations.map(({ durationMs: _, ...row }) => row),
    rawMails: rest.rawMails.map(({ seq, raw }) => ({ seq, raw: Buffer.from(raw, 'base64').toString('latin1') })),
  });
  return JSON.parse(text.replaceAll(/@[a-z0-9]+\.trialbed\.invalid/g, '@world').replaceAll(/boundary=[^;\\]+|----?_NmP-[\w-]+/g, 'boundary'));
}

async function forked(trial: string, request: ForkRequest): Promise<TrialSummary> {
  const { store } = testbed.root;
  const receipt = await fork(testbed.root, trial, request);
  const batch = await store.batch(receipt.batch);
  if (!batch) throw new Error('the fork has no batch');
  const handle = startBatch(testbed.root, batch, true, new Promise(() => {}));
  for await (const event of handle.events()) if (event.type === 'trial') return event;
  throw new Error('the fork ended without a trial');
}

/** All that the store and Temporal hold of a trial and its batch. */
async function everything(trial: string): Promise<unknown> {
  return inStore(async (client) => {
    const of = async (table: string, column = 'trial') =>
      (await client.query(`select t::text as row from trialbed.${table} t where ${column} = $1 order by 1`, [trial])).rows;
    const { rows: batches } = await client.query('select b::text as row from trialbed.batches b where id = $1', [trial.slice(0, trial.lastIndexOf('-'))]);
    const rows = [];
    for (const table of ['attempts', 'messages', 'records', 'verdicts', 'snapshots', 'approvals', 'conversation', 'model_calls', 'origins'])
      rows.push(await of(table));
    const history: unknown = JSON.parse(historyToJSON(await testbed.root.temporal.workflow.getHandle(trial).fetchHistory()));
    return [batches, await of('trials', 'id'), rows, history];
  });
}

async function inStore<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: testbed.config.store.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe('a fork', () => {
  test('after each operation has the world of an undisturbed run then, and the original stays byte for byte', async () => {
    const before = await everything(whole.trial);
    const forks = await Promise.all(COUNTS.map((count) => forked(whole.trial, { at: `op-${count}`, agent: `first-${count}` })));
    for (const [index, trial] of forks.entries()) {
      const count = index + 1;
      expect(trial).toMatchObject({ ending: 'completed', calls: count });
      const expected = undisturbed.get(count);
      if (!expected) throw new Error('no such run');
      expect(comparable(await snapshotOf(trial)), `after op-${count}`).toEqual(comparable(expected));
    }
    expect(await everything(whole.trial)).toEqual(before);
  }, 60_000);

  test('goes on to the same end as the original, and tells where it comes from', async () => {
    const { store } = testbed.root;
    const ends = await Promise.all(['start', 'op-5', 'op-8'].map((at) => forked(whole.trial, { at })));
    const original = await store.record(whole.trial, 1);
    for (const trial of ends) {
      expect(comparable(await snapshotOf(trial))).toEqual(comparable(await snapshotOf(whole)));
      const record = await store.record(trial.trial, 1);
      expect(record?.operations.map(({ id, told, known, position, problem }) => [id, told, known, position, problem])).toEqual(
        original?.operations.map(({ id, told, known, position, problem }) => [id, told, known, position, problem]),
      );
      expect(record?.faults?.injected.length).toBe(original?.faults?.injected.length);
      expect((await store.origin(trial.trial, 1))?.source).toEqual({ trial: whole.trial, attempt: 1 });
    }
    expect((await store.trials(whole.batch)).length).toBe(STEPS.length);
    expect((await store.newestTrials('forked')).some(({ id }) => ends.some(({ trial }) => trial === id))).toBe(false);
  }, 60_000);

  test('by an agent that does otherwise before that point is refused the call, and misses the record', async () => {
    const trial = await forked(whole.trial, { at: 'op-4', agent: 'other' });
    expect(trial).toMatchObject({ ending: 'cassette_miss', pass: 'undetermined' });
    const record = await testbed.root.store.record(trial.trial, 1);
    expect(record?.operations.map(({ told, problem }) => [told, problem?.code])).toEqual([
      ['committed', undefined],
      ['rejected', 'not_as_recorded'],
    ]);
    expect(await forked(whole.trial, { at: 'op-4', agent: 'first-2' })).toMatchObject({ ending: 'cassette_miss', calls: 2 });
  });

  test('by an agent with code of its own is answered from the record while its calls are the same, and misses it with the first that is not', async () => {
    const { store } = testbed.root;
    const [same, other] = await Promise.all(['module-same', 'module-other'].map((agent) => forked(whole.trial, { at: 'op-4', agent })));
    expect(same).toMatchObject({ ending: 'completed', calls: 5 });
    const [record, original] = await Promise.all([store.record(same?.trial ?? '', 1), store.record(whole.trial, 1)]);
    const ends = (operations = record?.operations) => operations?.map(({ id, told, position, problem, result }) => ({ id, told, position, problem, result }));
    expect(ends(record?.operations.slice(0, 4))).toEqual(ends(original?.operations.slice(0, 4)));
    const heard: readonly (readonly unknown[])[] = JSON.parse(record?.messages.at(-1)?.text ?? '[]');
    expect(heard.map(([state, , problem]) => [state, problem])).toEqual(ends()?.map(({ told, problem }) => [told, problem?.code ?? null]));
    expect(heard.map(([state]) => state)).toEqual(['committed', 'failed', 'committed', 'committed', 'committed']);
    expect(other).toMatchObject({ ending: 'cassette_miss', pass: 'undetermined', calls: 2 });
    const missed = await store.record(other?.trial ?? '', 1);
    expect(missed?.operations.map(({ told, problem }) => [told, problem?.code])).toEqual([
      ['committed', undefined],
      ['rejected', 'not_as_recorded'],
    ]);
  });

  test('under other faults goes on from the same world, with none of those that were', async () => {
    const trial = await forked(whole.trial, { at: 'op-7', faults: 'none' });
    const record = await testbed.root.store.record(trial.trial, 1);
    expect(trial).toMatchObject({ schedule: 'none', ending: 'completed', calls: 12 });
    expect(record?.operations[7]?.told).toBe('committed');
    expect(record?.operations[4]?.told).toBe('unknown');
  });

  test('is refused where there is no such operation or nothing of the world is left, with what to do', async () => {
    await expect(fork(testbed.root, whole.trial, { at: 'op-33' })).rejects.toThrow(/no operation op-33 .* did you mean op-3\?.* op-1 to op-12/s);
    const { trials } = await testbed.run({ suite, agents: ['first-1'], faults: ['rough'], keep: 'never' });
    await expect(fork(testbed.root, trials[0]?.trial ?? '', { at: 'op-1' })).rejects.toThrow(/--keep always/);
    await expect(fork(testbed.root, 'nothing', { at: 'op-1' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(fork(testbed.root, whole.trial, { at: 'op-1', faults: 'ruogh' })).rejects.toThrow(/did you mean "rough"/);
  });
});

describe('a fork of what is not as it was', () => {
  test('is refused: by an edited agent, a snapshot of another generation, one of an earlier version, in another environment', async () => {
    const { store } = testbed.root;
    const { trials } = await testbed.run({ suite, agents: ['first-1', 'edited'], faults: ['rough'], keep: 'never' });
    const [trial = '', edited = ''] = ['first-1', 'edited'].map((name) => trials.find(({ agent }) => agent === name)?.trial ?? '');
    await expect(fork(testbed.root, edited, { at: 'start' })).rejects.toThrow(/nothing is left of the world/);
    await appendFile(join(folder, 'edited.ts'), '\n');
    await expect(fork(testbed.root, edited, { at: 'start' })).rejects.toThrow(`agent edited has changed since trial ${edited} was made`);
    const kept = { ...undisturbed.get(1) } as unknown as JsonObject;
    await store.putSnapshot(`${trial}.1`, trial, 1, { ...kept, generation: 'f'.repeat(64) });
    await expect(fork(testbed.root, trial, { at: 'op-1' })).rejects.toThrow(/is of generation f{12}, and its batch is of [0-9a-f]{12}/);
    expect(await store.deleteSnapshot(`${trial}.1`)).toEqual({ deleted: true, neededBy: [] });
    const { past: _, ...earlier } = kept;
    await store.putSnapshot(`${trial}.1`, trial, 1, earlier);
    await expect(fork(testbed.root, trial, { at: 'op-1' })).rejects.toThrow(/cannot go on from op-1: the snapshot was made by an earlier version/);
    const [batch = ''] = trial.split('-');
    const changed = `update trialbed.batches set environment = jsonb_set(environment::jsonb, '{generation}', '"${'e'.repeat(64)}"')::json where id = $1`;
    await inStore((sql) => sql.query(changed, [batch]));
    await expect(fork(testbed.root, trial, { at: 'op-1' })).rejects.toThrow(`the environment has changed since trial ${trial} was made`);
    expect(await store.batches({ suite: 'forked', limit: 1 })).toMatchObject([{ id: batch }]);
  });
});

describe('a reset', () => {
  test('of a stuck trial goes on after each operation in a fresh world, and the attempt before is kept', async () => {
    const { root } = testbed;
    const handle = await run(
      root,
      { suite, agents: ['stuck'], faults: ['rough'], seed: 'one', trials: STEPS.length + 1, human: true, concurrency: 20 },
      new Promise(() => {}),
    );
    const stuck = await asking(handle.id, 1, STEPS.length + 1);
    const worlds = await Promise.all(stuck.map((trial) => standing(`${trial}.1`)));
    await expect(reset(root, whole.trial, 'op-3')).rejects.toThrow(PointRefusedError);
    await expect(reset(root, stuck[0] ?? '', 'op-13')).rejects.toThrow(/op-13 \(cancel_order\) has not ended\. The nearest points are op-12/);
    await expect(reset(root, stuck[0] ?? '', 'grad')).rejects.toThrow(/did you mean grade/);
    // The fourth is wedged: its workflow does not say what it told, and the ledger does as far as no reply was lost.
    await wedge(stuck[3] ?? '');
    // The third by an event, the last by a phase, the others by their operations.
    const { marks } = await historyOf(root.temporal, stuck[2] ?? '');
    const event = marks.find(({ what, operation }) => what === 'ended' && operation === 'op-3')?.event;
    const points = stuck.map((_, index) => (index === STEPS.length ? 'drive' : index === 2 ? String(event) : `op-${index + 1}`));
    const unsure = reset(root, stuck[3] ?? '', 'op-5');
    const resets = Promise.all(stuck.map((trial, index) => reset(root, trial, points[index] ?? '')));
    await expect(unsure).rejects.toThrow(/told of op-5 \(issue_refund\) is known to its workflow alone/);
    const receipts = await resets;
    expect(receipts.map(({ calls }) => calls)).toEqual([...COUNTS, 0]);
    expect(receipts.every(({ how }) => how === 'attempt')).toBe(true);
    const batch = await root.store.batch(handle.id);
    if (!batch) throw new Error('no batch');
    await wakeBatch(root.temporal, batch);
    await asking(handle.id, 2, STEPS.length + 1);
    const told = await root.store.origin(stuck[3] ?? '', 2);
    const original = await root.store.record(whole.trial, 1);
    expect(told?.notes).toEqual(
      original?.operations.slice(0, 4).map(({ id, seq, tool, position, told: state, problem }) => ({
        ...{ id, seq, tool, position, told: state, problem },
        ...{ replayOf: null, disturbed: false },
      })),
    );
    for (const [index, trial] of stuck.entries()) {
      const count = receipts[index]?.calls ?? 0;
      const [before, now] = [worlds[index], await standing(`${trial}.2`)];
      if (!before) throw new Error('no world');
      for (const point of [count, STEPS.length]) expect(comparable(snapshotAt(now, point)), `${count} ${point}`).toEqual(comparable(snapshotAt(before, point)));
      const kept = await root.store.snapshot(`${trial}.1`);
      expect(comparable(kept?.snapshot as unknown as WorldSnapshot)).toEqual(comparable(before));
      const attempts = await root.store.attempts(trial);
      expect(attempts.map(({ ending, counts }) => [ending, counts])).toEqual([
        ['cancelled', false],
        [null, true],
      ]);
    }
    await handle.interrupt();
    await Promise.all(stuck.map((trial) => root.temporal.workflow.getHandle(trial).terminate()));
  }, 60_000);

  test('of a wedged trial of which nothing was admitted since goes on in its own world, and ends with a verdict', async () => {
    const { root } = testbed;
    const handle = await run(root, { suite, agents: ['stuck'], faults: ['rough'], seed: 'one', human: true }, new Promise(() => {}));
    const [trial = ''] = await asking(handle.id, 1, 1);
    const [begun] = await root.store.attempts(trial);
    const before = await standing(`${trial}.1`);
    await wedge(trial);
    expect(await reset(root, trial, 'op-13')).toMatchObject({ how: 'temporal', attempt: 1, point: 'op-13', calls: 13, ended: false });
    expect(await decide(root, `${trial}.1.op-13`, { approved: true, by: 'petra' })).toMatchObject({ told: { state: 'committed' } });
    expect(await handle.result()).toMatchObject({ infraErrors: 0 });
    expect((await root.store.trial(trial))?.summary).toMatchObject({ ending: 'completed', pass: 'fail', attempt: 1, calls: 13 });
    const attempts = await root.store.attempts(trial);
    expect(attempts.map(({ world }) => world?.id)).toEqual([begun?.world?.id]);
    // Nothing of what was done before was done again.
    const record = await root.store.record(trial, 1);
    expect(record?.operations.slice(0, STEPS.length).map(({ id, result }) => [id, result])).toEqual(
      before.operations.slice(0, STEPS.length).map(({ id, state, result }) => [id, state === 'committed' && id !== 'op-5' ? result : null]),
    );
    expect(record?.effects.slice(0, before.effects.length)).toEqual(before.effects);
  });
});

/** Until its workflow task has failed more than once. */
async function wedge(trial: string): Promise<void> {
  const { temporal } = testbed.root;
  await sendPoisonedSignal(temporal, trial);
  await until(`${trial} is wedged`, () => isWedged(temporal, trial));
}

/** Trials of a batch whose attempt of that number waits for its approval. */
async function asking(batch: string, attempt: number, trials: number): Promise<readonly string[]> {
  for (let tries = 0; tries < 300; tries++) {
    const asked = (await testbed.root.store.waitingApprovals({ batch })).filter((one) => one.attempt === attempt);
    if (asked.length === trials) return asked.map(({ trial }) => trial).sort();
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error('the trials do not come so far');
}

async function standing(owner: string): Promise<WorldSnapshot> {
  const ref = await testbed.root.worlds.held(owner);
  if (!ref) throw new Error(`no world of ${owner}`);
  return JSON.parse(JSON.stringify(await (await testbed.root.worlds.open(ref)).snapshot()));
}
