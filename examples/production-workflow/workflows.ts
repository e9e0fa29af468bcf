import { defineQuery, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import {
  type ApprovalDecision,
  type ApprovalRequest,
  Approvals,
  contentDigest,
  idempotencyKey,
  performOperation,
  proxyOperations,
  type ReconcilePolicy,
} from 'trialbed/operations';
import type { Activities, Refund, Ticket } from './activities.ts';
import type { RefundRequest, RefundResult } from './messages.ts';

/** Cents above which a person has to agree. */
const NEEDS_APPROVAL = 10_000;

/** A person's decision; false when nothing waits for it any more. */
export const decide = defineUpdate<boolean, [ApprovalDecision]>('decide');
/** What waits for a decision. */
export const pending = defineQuery<readonly ApprovalRequest[]>('pending');

// Writes: one attempt each, so that Temporal never repeats one whose reply was lost. A look changes nothing and may be tried again.
const { refund, openTicket } = proxyOperations<Activities>({ startToCloseTimeout: '3 seconds' });
const { findRefund, findTicket } = proxyActivities<Activities>({ startToCloseTimeout: '3 seconds', retry: { maximumAttempts: 2 } });

/** Refunds an order and writes to the customer in a ticket. Each is done once or not at all; where that cannot be found out, a person is asked. */
export async function refundOrder(request: RefundRequest): Promise<RefundResult> {
  const approvals = new Approvals();
  setHandler(pending, () => approvals.pending);
  setHandler(decide, (decision) => approvals.decide(decision));

  const { order, amount, customer } = request;
  const content = { order, amount };
  const key = idempotencyKey('refund', content);
  const refunded = await performOperation<Refund>({
    definite: ['declined', 'rate_limited'],
    dispatch: () => refund(order, amount, key),
    reconcile: { ...LOOKS, lookUp: () => findRefund(key) },
    ...(amount > NEEDS_APPROVAL && {
      approval: () => approvals.request({ operation: 'refund', digest: contentDigest(content), expiresIn: '1 hour' }),
    }),
  });

  switch (refunded.state) {
    case 'committed':
      return { refund: 'made', id: refunded.value.id, told: (await write('told', `${customer}: ${amount} cents of ${order} were refunded.`)) ? 'yes' : 'no' };
    case 'failed':
    case 'denied': {
      const why = refunded.problem.code;
      return { refund: 'not made', why, told: (await write('told', `${customer}: ${order} was not refunded.`)) ? 'yes' : 'no' };
    }
    case 'unknown':
      // Neither is said to the customer: nobody knows.
      return { refund: 'unknown', ticket: (await write('check', `Was ${order} refunded with the key ${key}?`))?.id ?? null };
  }
}

/** The ticket, or null where it is not known to be there. */
async function write(purpose: string, text: string): Promise<Ticket | null> {
  const reference = idempotencyKey(purpose, { text });
  const written = await performOperation<Ticket>({
    definite: ['rate_limited'],
    dispatch: () => openTicket(reference, text),
    reconcile: { ...LOOKS, lookUp: () => findTicket(reference) },
  });
  return written.state === 'committed' ? written.value : null;
}

/** Both services give up a request that is not there whole after two seconds: one whose connection was lost and that they do not know after five never comes. */
const LOOKS: Omit<ReconcilePolicy<never>, 'lookUp'> = { firstAfterMs: 500, looks: 5, backoff: 2, absentIsFinalAfterMs: 5_000 };
