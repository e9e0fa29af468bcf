import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { decide, DecisionRefusedError } from '../../src/client/approvals.ts';
import type { RunRequest } from '../../src/client/api.ts';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { AskedApproval } from '../../src/store/store.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { decideUpdate } from '../../src/workflows/messages.ts';
import { moduleAgent } from './core-trials.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const ORDER = 5003;
const REFUND = { order_id: ORDER, amount: 60, reason: 'damaged' };
const PETRA = { approved: true, by: 'petra' };

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-people-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Running {
  /** The request, once it waits. */
  readonly asked: AskedApproval;
  readonly end: Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord }>;
}

/** Starts a trial that people decide about, and waits until it asks. */
async function start(bed: Testbed, name: string, agent: JsonObject, rule: JsonObject = {}, options: Pick<RunRequest, 'unverified'> = {}): Promise<Running> {
  const user = { name: 'mara', role: 'agent', approval: [{ tool: 'issue_refund', ...rule }] };
  const request = await writeOneCaseSuite(folder, name, { environment: 'support-desk', agent, kase: { user, approver: 'deny' } });
  const handle = await run(bed.root, { ...request, keep: 'never', human: true, ...options }, new Promise(() => {}));
  const asked = Promise.withResolvers<AskedApproval>();
  const end = (async () => {
    for await (const event of handle.events()) {
      if (event.type === 'approval') asked.resolve(event.asked);
      if (event.type !== 'trial') continue;
      const record = await bed.root.store.record(event.trial, event.attempt);
      if (!record) throw new Error(`no record: ${event.why}`);
      return { trial: event, record };
    }
    throw new Error('the batch has no trial');
  })();
  end.catch(asked.reject);
  return { asked: await asked.promise, end };
}

const script = (...steps: JsonObject[]): JsonObject => ({
  kind: 'script',
  steps: [{ call: 'issue_refund', with: REFUND, as: 'refund' }, ...steps],
  answer: 'Done.',
});
const refunds = ({ effects }: TrialRecord) => effects.filter((effect) => effect.kind === 'row' && effect.table === 'refunds');
const signal = (asked: AskedApproval, name: string, content: unknown) => testbed.root.temporal.workflow.getHandle(asked.trial).signal(name, content);
/** Somebody else's hand: a refund of the same order. */
async function change(asked: AskedApproval): Promise<void> {
  const { store, worlds, loadEnvironment } = testbed.root;
  const batch = await store.batch(asked.batch);
  if (!batch) throw new Error('no batch');
  const environment = await loadEnvironment(batch.environment);
  // Asked for by its owner's name, it is the same world.
  const kase = { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] };
  const lease = { owner: `${asked.trial}.${asked.attempt}`, workflowId: asked.trial, isolation: 'schema' as const, leaseMs: 60_000, kase };
  const world = await worlds.open(await worlds.provision(environment, lease));
  await world.faults.changeWhileWaiting('by hand', [{ update: 'refunds', where: { id: 801 }, set: { order_id: ORDER } }]);
}

describe.concurrent('people decide', () => {
  it('by an update, once: who decides learns what became of the call, and whoever comes later that it does not count', async () => {
    const { asked, end } = await start(testbed, 'update', script());
    expect(asked.approval).toMatchObject({ tool: 'issue_refund', args: REFUND, people: true, end: null, rule: 'issue_refund' });
    const receipt = await decide(testbed.root, asked.id.slice(0, -2), { ...PETRA, reason: 'it is broken' });
    expect(receipt).toMatchObject({
      end: { outcome: 'approved', by: 'petra', via: 'update', reason: 'it is broken' },
      told: { state: 'committed', problem: null },
    });
    await expect(decide(testbed.root, asked.id, { ...PETRA, approved: false })).rejects.toThrow(/approved by petra at .* already/);
    const { record } = await end;
    expect(record.operations[0]).toMatchObject({ told: 'committed', approval: { end: { by: 'petra', via: 'update' } } });
    expect(refunds(record)).toHaveLength(1);
  });

  it('an update is refused that names another content, another operation or another attempt, and changes nothing', async () => {
    const { asked, end } = await start(testbed, 'validator', script());
    const handle = testbed.root.temporal.workflow.getHandle(asked.trial);
    const answer = { attempt: 1, operation: 'op-1', approved: true, digest: asked.approval.digest, by: 'petra', reason: null };
    const refused = (over: object) =>
      handle.executeUpdate(decideUpdate, { args: [{ ...answer, ...over }] }).then(
        () => 'taken',
        (error: { cause?: { message?: string } }) => error.cause?.message,
      );
    expect(await refused({ digest: 'f'.repeat(64) })).toBe('op-1 has another content than what this approval is for.');
    expect(await refused({ operation: 'op-9' })).toMatch(/^Nothing of the id op-9 waits/);
    expect(await refused({ attempt: 2 })).toMatch(/^Attempt 2 of the trial has ended/);
    expect(await testbed.root.store.waitingApprovals({ batch: asked.batch })).toHaveLength(1);
    const receipt = await decide(testbed.root, asked.id, { approved: false, by: 'petra', reason: 'not yet' });
    expect(receipt.told).toMatchObject({ state: 'denied', problem: { code: 'approval_refused', message: expect.stringContaining('not yet') } });
    expect(refunds((await end).record)).toEqual([]);
    await expect(decide(testbed.root, asked.id, PETRA)).rejects.toBeInstanceOf(DecisionRefusedError);
  });

  it('by plain signals of the untyped names, which are recorded as of unverified identity', async () => {
    const { asked, end } = await start(testbed, 'signal', script());
    // What is no decision changes nothing, whatever it is.
    for (const junk of [
      null,
      'op-1',
      { operation: 7 },
      { operation: 'op-9', digest: asked.approval.digest },
      { operation: 'op-1', digest: asked.approval.digest, attempt: 9 },
    ])
      await signal(asked, 'approve', junk);
    await signal(asked, 'approve', { operation: 'op-1', digest: asked.approval.digest });
    await signal(asked, 'deny', { operation: 'op-1', digest: asked.approval.digest });
    const { record } = await end;
    expect(record.operations[0]).toMatchObject({ told: 'committed', approval: { end: { outcome: 'approved', by: 'a Temporal signal', via: 'signal' } } });
  });

  it('no signal decides where the batch refuses what nobody vouches for; an update does', async () => {
    const { asked, end } = await start(testbed, 'unverified', script(), {}, { unverified: 'refuse' });
    for (const name of ['deny', 'approve']) await signal(asked, name, { operation: 'op-1', digest: asked.approval.digest, by: 'petra' });
    expect(await decide(testbed.root, asked.id, PETRA)).toMatchObject({ end: { outcome: 'approved', via: 'update' } });
    expect((await end).record.operations[0]).toMatchObject({ told: 'committed', approval: { end: { via: 'update' } } });
  });

  it('a signal for another content makes the call void, and one that denies needs no content', async () => {
    const wrong = await start(testbed, 'signal-void', script());
    await signal(wrong.asked, 'approve', { operation: 'op-1', digest: '0'.repeat(64), by: 'petra' });
    expect((await wrong.end).record.operations[0]).toMatchObject({
      told: 'denied',
      problem: { code: 'approval_void' },
      approval: { end: { outcome: 'void', by: 'petra', via: 'signal' } },
    });
    const denied = await start(testbed, 'signal-deny', script());
    await signal(denied.asked, 'deny', { operation: 'op-1', by: 'petra', reason: 'no' });
    expect((await denied.end).record.operations[0]).toMatchObject({
      told: 'denied',
      approval: { end: { outcome: 'refused', by: 'petra', via: 'signal', reason: 'no' } },
    });
  });

  it('what has changed between the request and the approval is void, in the transaction of the write', async () => {
    const { asked, end } = await start(testbed, 'changed', script());
    await change(asked);
    const receipt = await decide(testbed.root, asked.id, PETRA);
    expect(receipt).toMatchObject({ end: { outcome: 'void', by: 'petra' }, told: { state: 'denied', problem: { code: 'approval_void' } } });
    expect((await testbed.root.store.askedApproval(asked.id))?.approval.end?.outcome).toBe('void');
    expect(refunds((await end).record)).toMatchObject([{ byFault: -1 }]);
  });

  it('nobody decides in time', async () => {
    const { end } = await start(testbed, 'expired', script(), { expires: '2s' });
    const { record } = await end;
    expect(record.operations[0]).toMatchObject({
      told: 'denied',
      problem: { code: 'approval_expired' },
      approval: { end: { outcome: 'expired', by: null, via: null } },
    });
    expect(record.effects).toEqual([]);
  });

  it('an agent of its own process is told after 20 s that the call waits, has all of its time then, and looks', async () => {
    const agent = moduleAgent('waits-for-approval.ts', { refund: REFUND });
    const { asked, end } = await start(testbed, 'module', agent);
    const status = () => testbed.root.temporal.workflow.getHandle(asked.trial).query<{ waiting: string[] }>('status');
    expect((await status()).waiting).toEqual(['op-1 issue_refund']);
    // Until it has been told and has looked.
    const deadline = Date.now() + 40_000;
    const calls = async () => (await testbed.root.temporal.workflow.getHandle(asked.trial).query<{ calls: number }>('status')).calls;
    while ((await calls()) < 3 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 200));
    await decide(testbed.root, asked.id, PETRA);
    const { trial, record } = await end;
    expect(trial.ending).toBe('completed');
    const [first, again] = record.operations;
    expect(first).toMatchObject({ told: 'awaiting_approval', known: 'committed', ended: { state: 'committed' }, reconciled: { state: 'committed' } });
    expect(again).toMatchObject({ told: 'rejected', problem: { code: 'idempotency_conflict' } });
    expect(record.messages.at(-1)?.text).toMatch(/^awaiting_approval rejected (awaiting_approval )+committed committed$/);
    expect(refunds(record)).toHaveLength(1);
  }, 90_000);
});

describe('kill -9 of the worker', () => {
  it('while a call waits, and once more when it was decided: the call is carried out once', async () => {
    await using bed = await startTestbed(inject('services'), { worker: false });
    const doomed = await startWorkerProcess({ ...bed.config, failpoints: [{ name: 'approval_requested_before_told', hit: 1 }] });
    const starting = start(bed, 'killed', script());
    await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
    const second = await startWorkerProcess({ ...bed.config, failpoints: [{ name: 'approval_settled_before_dispatch', hit: 1 }] });
    const { asked, end } = await starting;
    const deciding = decide(bed.root, asked.id, PETRA);
    await expect(second.broken).rejects.toThrow('was ended by SIGKILL');
    await using _survivor = await startTrialWorker(bed.root);
    // Whoever decided hears of it from the worker that took over.
    expect(await deciding).toMatchObject({ end: { outcome: 'approved', by: 'petra' }, told: { state: 'committed' } });
    const { trial, record } = await end;
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1 });
    expect(refunds(record)).toHaveLength(1);
    expect(record.operations[0]).toMatchObject({ told: 'committed', approval: { end: { outcome: 'approved', by: 'petra' } } });
  }, 120_000);
});
