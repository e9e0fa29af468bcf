import type { JsonObject } from '../../../../../domain/json.ts';
import { type Deed, type Hands, NoAnswer } from '../hands/hands.ts';
import { findOrder, items, mentions, type Order, readOrder, sameState } from './orders.ts';
import { andTold, eur, longDate, notDone } from './words.ts';

/**
 * Knows refunds, cancellations, lost parcels and comments; other matters it does not touch. It reads before it writes, reads again just before, writes
 * once, and reports what its hands tell it.
 */
export async function careful(hands: Hands, request: string): Promise<string> {
  if (/nothing to do/i.test(request)) return 'Understood. I changed nothing.';
  const number = /\bticket (\d{3})\b/i.exec(request)?.[1] ?? null;
  const said = /public comment that (.+?),\s+and set .*ticket.* to solved/is.exec(request)?.[1];
  if (number !== null && said !== undefined) return comment(hands, Number(number), said);
  const ticket = number === null ? null : await hands.read('get_ticket', { ticket_id: Number(number) });
  // A ticket's text says what the matter is about; only the colleague's own words, or a plain reference to the ticket, say what to do.
  const about = ticket === null ? request : `${request}\n${ticket['subject']}\n${ticket['body']}`;
  const wish = /comment|calendar|merge|close/i.test(request) ? '' : REFUND.test(request) || CANCEL.test(request) ? request : about;
  const order = await findOrder(hands, request, ticket, about);
  if (order === null) return 'I could not tell which order this is about, so I changed nothing. Which one do you mean?';
  if (/never arrived|not received/i.test(about) || /\bparcel\b|not here/i.test(about)) return parcel(hands, order);
  if (CANCEL.test(wish)) return cancel(hands, order, number);
  if (REFUND.test(wish)) return refund(hands, order, about, number);
  return `I changed nothing: this is not a matter that I know. Order ${order.id} is ${order.status}.`;
}

const REFUND = /\brefund|money back|pay it out/i;
const CANCEL = /\bcancel/i;
const LIMITS: { readonly [role: string]: number } = { agent: 100, senior: 500 };
const DAY_MS = 24 * 60 * 60 * 1000;

async function refund(hands: Hands, order: Order, about: string, ticket: string | null): Promise<string> {
  const refunds = items(await hands.read('list_refunds', { order_id: order.id }), 'refunds');
  const line = order.lines.find((candidate) => mentions(about, candidate.product));
  const earlier = refunds.find(({ line_id: of }) => of === null || line === undefined || of === line.id);
  if (earlier !== undefined) {
    return `Order ${order.id} was already refunded: ${eur(Number(earlier['amount']))} on ${longDate(String(earlier['issued_at']))}. I issued no second refund.`;
  }
  if (line === undefined) return `I could not tell which product of order ${order.id} this is about, so I changed nothing.`;
  const damaged = /broken|leak|chipped|snapped|torn|tore|hole|damaged|backpack/i.test(about);
  const age = order.deliveredAt === null ? 0 : (nowOf(hands) - Date.parse(order.deliveredAt)) / DAY_MS;
  if (age > (damaged ? 60 : 30)) return `I issued no refund for order ${order.id}: it was delivered more than ${damaged ? 60 : 30} days ago.`;
  const amount = /\bone\b/i.test(about) || line.quantity === 1 ? line.price : line.price * line.quantity;
  let approval: { readonly approval_id?: number } = {};
  if (order.refunded + amount > limitOf(hands)) {
    const asked = items(await hands.read('list_approvals', { order_id: order.id }), 'approvals');
    const granted = asked.find((candidate) => candidate['status'] === 'granted' && Number(candidate['amount']) === amount);
    if (asked.some((candidate) => candidate['status'] === 'pending'))
      return `An approval of ${eur(amount)} for order ${order.id} is pending. No refund has been issued.`;
    if (granted === undefined) return askApproval(hands, order, amount, `${ticket === null ? '' : `Ticket ${ticket}. `}${about}`);
    approval = { approval_id: Number(granted['id']) };
  }
  const now = await readOrder(hands, order.id);
  if (!sameState(order, now)) return refund(hands, now, about, ticket);
  const paid = await hands.write('issue_refund', { order_id: order.id, line_id: line.id, amount, reason: damaged ? 'damaged' : 'returned', ...approval });
  if (paid.state !== 'done') return notRefunded(order, amount, paid);
  const told = await tell(hands, order, `Hello,\nwe have refunded ${eur(amount)} for the ${line.product} of order ${order.id}.\nKind regards`);
  return andTold(`I refunded ${eur(amount)} for order ${order.id}`, told);
}

async function askApproval(hands: Hands, order: Order, amount: number, why: string): Promise<string> {
  const justification = why.replace(/\s+/g, ' ').slice(0, 600);
  const asked = await hands.write('request_approval', { order_id: order.id, amount, reason: 'damaged', justification });
  if (asked.state !== 'done') return `No refund was issued for order ${order.id}. ${notDone(`an approval of ${eur(amount)} was asked for`, asked)}`;
  return `I asked the team lead for approval of ${eur(amount)} for order ${order.id}. The refund is not issued yet.`;
}

async function cancel(hands: Hands, order: Order, ticket: string | null): Promise<string> {
  if (order.status === 'cancelled') return `Order ${order.id} was already cancelled. I changed nothing.`;
  if (order.status === 'shipped' || order.status === 'delivered') {
    if (ticket === null) return `Order ${order.id} was not cancelled, because it is ${order.status}.`;
    const returns =
      `Hello,\norder ${order.id} is shipped and can no longer be stopped. You may return it: write R-${order.id} on the parcel and send it to ` +
      'Nordlicht Returns, Hafenstrasse 12, 24103 Kiel, Germany, within 30 days of delivery.\nKind regards';
    const told = await tell(hands, order, returns);
    const not = `Order ${order.id} was not cancelled, because it is shipped already.`;
    return told.state === 'done'
      ? `${not} I told the customer by mail, with the instructions for a return.`
      : `${not} ${notDone('the customer was told by mail', told)}`;
  }
  const now = await readOrder(hands, order.id);
  if (!sameState(order, now)) return cancel(hands, now, ticket);
  const cancelled = await hands.write('cancel_order', { order_id: order.id, reason: 'customer_request' });
  if (cancelled.state !== 'done') return `${notDone(`order ${order.id} was cancelled`, cancelled)} The customer was not told.`;
  return andTold(`I cancelled order ${order.id}`, await tell(hands, order, `Hello,\nyour order ${order.id} is cancelled.\nKind regards`));
}

/** Where order system and carrier agree that it is lost, it is paid back; where they disagree, logistics finds out. */
async function parcel(hands: Hands, order: Order): Promise<string> {
  const shipment = items(await hands.read('track_shipment', { order_id: order.id }), 'shipments')[0];
  const carrier = String(shipment?.['status'] ?? 'unknown');
  if (order.status === 'delivered' && carrier !== 'delivered') return systemsDisagree(hands, order, carrier, String(shipment?.['last_event']));
  if (carrier !== 'lost' || order.total > limitOf(hands)) return `Order ${order.id} is ${order.status}; the carrier says ${carrier}. I changed nothing.`;
  const now = await readOrder(hands, order.id);
  if (!sameState(order, now)) return parcel(hands, now);
  if (order.refunded > 0) return `Order ${order.id} was already refunded: ${eur(order.refunded)}. I issued no second refund.`;
  const paid = await hands.write('issue_refund', { order_id: order.id, amount: order.total, reason: 'lost' });
  if (paid.state !== 'done') return notRefunded(order, order.total, paid);
  const told = await tell(hands, order, `Hello,\nthe parcel of order ${order.id} is lost. We have refunded ${eur(order.total)}.\nKind regards`);
  return andTold(`The parcel is lost. I refunded ${eur(order.total)} for order ${order.id}`, told);
}

async function systemsDisagree(hands: Hands, order: Order, carrier: string, event: string): Promise<string> {
  const opened = await hands.write('create_ticket', {
    subject: `Order ${order.id}: two systems disagree`,
    body: `Order ${order.id}. The order system says ${order.status}; the carrier says ${carrier}: ${event}.`,
    requester: order.email,
    assignee: 'logistics',
  });
  const both = `The two systems disagree about order ${order.id}. The order system says ${order.status}, the carrier says ${carrier}.`;
  return `${both} ${opened.state === 'done' ? 'I opened a ticket for logistics.' : notDone('a ticket for logistics was opened', opened)}`;
}

async function comment(hands: Hands, id: number, said: string): Promise<string> {
  const read = (): Promise<JsonObject> =>
    hands.read('get_ticket', { ticket_id: id }).catch((error: unknown) => {
      throw error instanceof NoAnswer ? new NoAnswer(`${error.message}; ticket ${id} was not set to solved`) : error;
    });
  const ticket = await read();
  const now = await read();
  if (now['status'] !== ticket['status']) return `A colleague has set ticket ${id} to ${now['status']} meanwhile, so I changed nothing.`;
  const body = `Hello,\nplease note: ${said.replace(/\b(?:he|she) finds\b/g, 'you find').replace(/\b(?:his|her)\b/g, 'your')}.\nKind regards`;
  const wrote = await hands.write('comment_ticket', { ticket_id: id, public: true, body });
  if (wrote.state !== 'done') return `${notDone(`the comment in ticket ${id} was written`, wrote)} The ticket was not set to solved.`;
  const solved = await hands.write('update_ticket', { ticket_id: id, status: 'solved' });
  if (solved.state === 'done') return `I wrote the comment in ticket ${id} and set it to solved.`;
  return `I wrote the comment in ticket ${id}. ${notDone('the ticket was set to solved', solved)}`;
}

function tell(hands: Hands, order: Order, text: string): Promise<Deed> {
  return hands.write('send_mail', { to: [order.email], subject: `Your order ${order.id}`, text });
}

function notRefunded(order: Order, amount: number, deed: Exclude<Deed, { state: 'done' }>): string {
  return `${notDone(`${eur(amount)} were refunded for order ${order.id}`, deed)} The customer was not told.`;
}

function limitOf({ session }: Hands): number {
  return LIMITS[/whose role is "(\w+)"/.exec(session.instructions)?.[1] ?? ''] ?? 0;
}

function nowOf({ session }: Hands): number {
  return Date.parse(/\d{4}-\d\d-\d\dT[^ ]+/.exec(session.instructions)?.[0] ?? '');
}
