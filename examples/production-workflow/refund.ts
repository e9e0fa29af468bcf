import { Client, Connection } from '@temporalio/client';
import type { ApprovalDecision, ApprovalRequest } from 'trialbed/operations';
import type { refundOrder } from './workflows.ts';

/** `refund.ts ORDER CENTS` starts a refund and prints its end; `refund.ts approve ORDER` approves what waits of it. */
const [first = 'A-1001', second = '4900'] = process.argv.slice(2);
const connection = await Connection.connect();
const { workflow } = new Client({ connection });
if (first === 'approve') {
  const handle = workflow.getHandle(`refund-${second}`);
  for (const { operation, digest } of await handle.query<readonly ApprovalRequest[]>('pending')) {
    const decision: ApprovalDecision = { operation, approved: true, by: 'the shell', ...(digest !== undefined && { digest }) };
    const taken = await handle.executeUpdate<boolean, [ApprovalDecision]>('decide', { args: [decision] });
    process.stdout.write(`${operation}: ${taken ? 'approved' : 'waits no more'}\n`);
  }
} else {
  const result = await workflow.execute<typeof refundOrder>('refundOrder', {
    workflowId: `refund-${first}`,
    taskQueue: 'refunds',
    args: [{ order: first, amount: Number(second), customer: 'lena@example.com' }],
  });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
await connection.close();
