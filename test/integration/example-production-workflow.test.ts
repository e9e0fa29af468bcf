import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { customAlphabet } from 'nanoid';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createActivities } from '../../examples/production-workflow/activities.ts';
import type { RefundResult } from '../../examples/production-workflow/messages.ts';
import { Service, type Trouble } from '../../examples/production-workflow/services.ts';
import type { ApprovalDecision, ApprovalRequest } from '../../src/workflows/operations/index.ts';
import { logger, until } from './operations-bench.ts';
import { buildPackage, ROOT } from './package-place.ts';

const newName = customAlphabet('abcdefghjkmnpqrstuvwxyz', 10);
const taskQueue = `refunds_${newName()}`;
const stack = new AsyncDisposableStack();
let client: Client;
let workflowBundle: WorkflowBundleWithSourceMap;
let payments: Service;
let helpdesk: Service;

beforeAll(async () => {
  // The workflow imports `trialbed/operations` as users do: from the built package.
  await buildPackage();
  Runtime.install({ logger });
  const { temporalAddress: address } = inject('services');
  const connection = await Connection.connect({ address });
  stack.defer(() => connection.close());
  client = new Client({ connection });
  const native = await NativeConnection.connect({ address });
  stack.defer(() => native.close());
  const workflowsPath = join(ROOT, 'examples', 'production-workflow', 'workflows.ts');
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
  payments = stack.use(await Service.payments());
  helpdesk = stack.use(await Service.helpdesk());
  const activities = createActivities({ payments: payments.url, helpdesk: helpdesk.url });
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, activities });
  const running = worker.run();
  stack.defer(async () => {
    worker.shutdown();
    await running;
  });
}, 300_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  payments.book.length = 0;
  helpdesk.book.length = 0;
});

async function begin(amount: number, id = `refund-${newName()}`): Promise<WorkflowHandle> {
  return client.workflow.start('refundOrder', { workflowId: id, taskQueue, args: [{ order: 'A-1001', amount, customer: 'lena@example.com' }] });
}

async function refund(trouble: readonly Trouble[] = [], desk: readonly Trouble[] = []): Promise<RefundResult> {
  payments.provoke(...trouble);
  helpdesk.provoke(...desk);
  return (await begin(4_900)).result();
}

const told = (text: string) => [expect.objectContaining({ text: expect.stringContaining(text) })];

describe('the refund workflow', () => {
  it('refunds once and tells the customer', async () => {
    expect(await refund()).toEqual({ refund: 'made', id: 're_1', told: 'yes' });
    expect(payments.book).toMatchObject([{ order: 'A-1001', amount: 4_900, key: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(helpdesk.book).toEqual(told('4900 cents of A-1001 were refunded'));
  });

  it.each([['lose reply'], ['stay silent']] as const)('finds by its key what the provider did when its reply is lost: %s', async (trouble) => {
    expect(await refund([trouble])).toEqual({ refund: 'made', id: 're_1', told: 'yes' });
    expect(payments.book).toHaveLength(1);
    expect(helpdesk.book).toEqual(told('were refunded'));
  });

  it('writes one ticket when the reply of the help desk is lost, which would take a second one', async () => {
    expect(await refund([], ['lose reply'])).toEqual({ refund: 'made', id: 're_1', told: 'yes' });
    expect(helpdesk.book).toHaveLength(1);
  });

  it('knows after the time in which a request can arrive that a dropped one did nothing', async () => {
    expect(await refund(['drop request'])).toEqual({ refund: 'not made', why: 'absent', told: 'yes' });
    expect(payments.book).toEqual([]);
    expect(helpdesk.book).toEqual(told('was not refunded'));
  });

  it.each([
    ['refuse', 'declined'],
    ['limit', 'rate_limited'],
  ] as const)('believes a refusal without looking: %s', async (trouble, why) => {
    expect(await refund([trouble])).toEqual({ refund: 'not made', why, told: 'yes' });
    expect(payments.book).toEqual([]);
  });

  it('asks a person where nobody can be asked, and tells the customer nothing', async () => {
    payments.provoke('lose reply');
    payments.deaf = true;
    try {
      expect(await (await begin(4_900)).result()).toEqual({ refund: 'unknown', ticket: 'ti_1' });
    } finally {
      payments.deaf = false;
    }
    expect(payments.book).toHaveLength(1);
    expect(helpdesk.book).toEqual(told(`Was A-1001 refunded with the key ${payments.book[0]?.['key']}?`));
  });

  it('has the same key in a second run of the same workflow, so that the provider refunds once', async () => {
    const first = await begin(4_900);
    await first.result();
    expect(await (await begin(4_900, first.workflowId)).result()).toMatchObject({ refund: 'made', id: 're_1' });
    expect(payments.book).toHaveLength(1);
  });

  it('replays from its history: approval, lost reply and look-up', async () => {
    payments.provoke('lose reply');
    const handle = await begin(25_000);
    const [request] = await waiting(handle);
    await decide(handle, { approved: true, digest: request?.digest ?? '' });
    expect(await handle.result()).toMatchObject({ refund: 'made' });
    await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), handle.workflowId);
  });

  it('waits for a person above 100 euros: nothing is sent before, and one refund after', async () => {
    const handle = await begin(25_000);
    const [request] = await waiting(handle);
    expect(payments.book).toEqual([]);
    expect(await decide(handle, { approved: true, digest: request?.digest ?? '' })).toBe(true);
    expect(await handle.result()).toMatchObject({ refund: 'made' });
    expect(payments.book).toMatchObject([{ amount: 25_000 }]);
  });

  it('sends nothing that a person refuses', async () => {
    const handle = await begin(25_000);
    await waiting(handle);
    await decide(handle, { approved: false });
    expect(await handle.result()).toEqual({ refund: 'not made', why: 'approval_refused', told: 'yes' });
    expect(payments.book).toEqual([]);
  });
});

async function waiting(handle: WorkflowHandle): Promise<readonly ApprovalRequest[]> {
  await until(async () => (await handle.query<readonly ApprovalRequest[]>('pending')).length === 1);
  return handle.query<readonly ApprovalRequest[]>('pending');
}

function decide(handle: WorkflowHandle, decision: Pick<ApprovalDecision, 'approved' | 'digest'>): Promise<boolean> {
  return handle.executeUpdate<boolean, [ApprovalDecision]>('decide', { args: [{ operation: 'refund', by: 'ines', ...decision }] });
}
