import { ApplicationFailure } from '@temporalio/common';
import type { Recovery } from 'trialbed/operations';

export interface Refund {
  readonly id: string;
  readonly order: string;
  readonly amount: number;
}

export interface Ticket {
  readonly id: string;
  readonly reference: string;
}

/** The activities of the refund workflow: one request each. What they throw says what is known of its effect, and nothing is tried again here. */
export function createActivities(services: { readonly payments: string; readonly helpdesk: string }) {
  return {
    async refund(order: string, amount: number, key: string): Promise<Refund> {
      const response = await send(`${services.payments}/refunds`, { order, amount }, { 'idempotency-key': `"${key}"` });
      return (await response.json()) as Refund;
    },

    /** By the idempotency key with which the refund was asked for. */
    async findRefund(key: string): Promise<Recovery<Refund>> {
      const response = await fetch(`${services.payments}/refunds?key=${encodeURIComponent(key)}`);
      if (!response.ok) throw new Error(`the payment provider replied ${response.status}`);
      const [refund] = (await response.json()) as Refund[];
      return refund ? { found: 'committed', value: refund } : { found: 'absent' };
    },

    async openTicket(reference: string, text: string): Promise<Ticket> {
      const response = await send(`${services.helpdesk}/tickets`, { reference, text });
      return (await response.json()) as Ticket;
    },

    /** By our own reference, since the help desk knows no idempotency keys. */
    async findTicket(reference: string): Promise<Recovery<Ticket>> {
      const response = await fetch(`${services.helpdesk}/tickets?reference=${encodeURIComponent(reference)}`);
      if (!response.ok) throw new Error(`the help desk replied ${response.status}`);
      const [ticket] = (await response.json()) as Ticket[];
      return ticket ? { found: 'committed', value: ticket } : { found: 'absent' };
    },
  };
}

export type Activities = ReturnType<typeof createActivities>;

/** Names the failures in which the service is known to have done nothing. All others, a lost connection among them, keep their own names. */
async function send(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
    // Later than the activity's own time, so that Temporal tells the time-out, and the socket is not held for ever.
    signal: AbortSignal.timeout(5_000),
  });
  if (response.ok) return response;
  const { message = response.statusText } = (await response.json().catch(() => ({}))) as { message?: string };
  if (response.status === 402) throw ApplicationFailure.nonRetryable(message, 'declined');
  if (response.status === 429) {
    throw ApplicationFailure.nonRetryable(message, 'rate_limited', { retryAfterSeconds: Number(response.headers.get('retry-after') ?? 1) });
  }
  // 409 and 422 speak of the key, and 5xx of the server: the refund may be there.
  throw ApplicationFailure.nonRetryable(message, `http_${response.status}`);
}
