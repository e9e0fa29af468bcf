import type { Json, JsonObject } from '../../../../domain/json.ts';
import type { AgentSession, CallResult } from '../../../agent.ts';

/**
 * A careful colleague as a program. It knows refunds, cancellations and lost parcels, reads before it writes, writes once, and reports what the
 * calls told it. Other matters it does not touch.
 */
export default async function careful(session: AgentSession): Promise<void> {
  for (let message = await session.receive(); message !== null; message = await session.receive()) {
    await session.reply(await handle(session, message.text).catch((stop: unknown) => (stop instanceof Stop ? stop.message : Promise.reject(stop))));
  }
}

const REFUND = /\brefund|money back|pay it out/i;
const CANCEL = /\bcancel/i;
const LIMITS: { readonly [role: string]: number } = { agent: 100, senior: 500 };
const DAY_MS = 24 * 60 * 60 * 1000;

/** It goes no further; the message is the answer. */
class Stop extends Error {}

interface Order {
  readonly id: number;
  readonly status: string;
  readonly email: string;
  readonly total: number;
  readonly refunded: number;
  readonly deliveredAt: string | null;
  readonly lines: readonly { readonly id: number; readonly product: string; readonly quantity: number; readonly price: number }[];
}

async function handle(session: AgentSession, request: string): Promise<string> {
  if (/nothing to do/i.test(request)) return 'Understood. I changed nothing.';
  const number = /\bticket (\d{3})\b/i.exec(request)?.[1];
  const ticket = number === undefined ? null : await read(session, 'get_ticket', { ticket_id: Number(number) });
  // A ticket's text says what the matter is about; only the colleague's own words, or a plain reference to the ticket, say what to do.
  const about = ticket === null ? request : `${request}\n${ticket['subject']}\n${ticket['body']}`;
  const wish = /comment|calendar|merge|close/i.test(request) ? '' : REFUND.test(request) || CANCEL.test(request) ? request : about;
  const order = await findOrder(session, request, ticket, about);
  if (order === null) return 'I could not tell which order this is about, so I changed nothing. Which one do you mean?';
  if (/never arrived|not received/i.test(about) || /\bparcel\b|not here/i.test(about)) return parcel(session, order);
  if (CANCEL.test(wish)) return cancel(session, order, number);
  if (REFUND.test(wish)) return refund(session, order, about, number ?? null);
  return `I changed nothing: this is not a matter that I know. Order ${order.id} is ${order.status}.`;
}

async function refund(session: AgentSession, order: Order, about: string, ticket: string | null): Promise<string> {
  const earlier = items(await read(session, 'list_refunds', { order_id: order.id }), 'refunds')[0];
  if (earlier !== undefined) {
    return `Order ${order.id} was already refunded: ${eur(Number(earlier['amount']))} on ${longDate(String(earlier['issued_at']))}. I issued no second refund.`;
  }
  const line = order.lines.find((candidate) => mentions(about, candidate.product));
  if (line === undefined) throw new Stop(`I could not tell which product of order ${order.id} this is about, so I changed nothing.`);
  const damaged = /broken|leak|chipped|snapped|torn|tore|hole|damaged|backpack/i.test(about);
  const age = order.deliveredAt === null ? 0 : (nowOf(session) - Date.parse(order.deliveredAt)) / DAY_MS;
  if (age > (damaged ? 60 : 30)) return `I issued no refund for order ${order.id}: it was delivered more than ${damaged ? 60 : 30} days ago.`;
  const amount = /\bone\b/i.test(about) || line.quantity === 1 ? line.price : line.price * line.quantity;
  const limit = LIMITS[roleOf(session)] ?? 0;
  let approval: number | null = null;
  if (order.refunded + amount > limit) {
    const asked = items(await read(session, 'list_approvals', { order_id: order.id }), 'approvals');
    const granted = asked.find((candidate) => candidate['status'] === 'granted' && Number(candidate['amount']) === amount);
    if (granted === undefined)
      return askApproval(
        session,
        order,
        amount,
        about,
        ticket,
        asked.some((candidate) => candidate['status'] === 'pending'),
      );
    approval = Number(granted['id']);
  }
  const why = damaged ? 'damaged' : 'returned';
  await write(session, 'issue_refund', { order_id: order.id, line_id: line.id, amount, reason: why, ...(approval === null ? {} : { approval_id: approval }) });
  await tell(session, order, `Hello,\nwe have refunded ${eur(amount)} for the ${line.product} of order ${order.id}.\nKind regards`);
  return `I refunded ${eur(amount)} for order ${order.id} and told the customer by mail.`;
}

async function askApproval(session: AgentSession, order: Order, amount: number, about: string, ticket: string | null, pending: boolean): Promise<string> {
  if (pending) return `An approval of ${eur(amount)} for order ${order.id} is pending. No refund has been issued.`;
  const justification = `${ticket === null ? '' : `Ticket ${ticket}. `}${about.replace(/\s+/g, ' ').slice(0, 600)}`;
  await write(session, 'request_approval', { order_id: order.id, amount, reason: 'damaged', justification });
  return `I asked the team lead for approval of ${eur(amount)} for order ${order.id}. The refund is not issued yet.`;
}

async function cancel(session: AgentSession, order: Order, ticket: string | undefined): Promise<string> {
  if (order.status === 'cancelled') return `Order ${order.id} was already cancelled. I changed nothing.`;
  if (order.status === 'shipped' || order.status === 'delivered') {
    if (ticket === undefined) return `Order ${order.id} was not cancelled, because it is ${order.status}.`;
    await tell(
      session,
      order,
      `Hello,\norder ${order.id} is shipped and can no longer be stopped. You may return it: write R-${order.id} on the parcel and send it to ` +
        'Nordlicht Returns, Hafenstrasse 12, 24103 Kiel, Germany, within 30 days of delivery.\nKind regards',
    );
    return `Order ${order.id} was not cancelled, because it is shipped already. I told the customer by mail how to return it.`;
  }
  await write(session, 'cancel_order', { order_id: order.id, reason: 'customer_request' });
  await tell(session, order, `Hello,\nyour order ${order.id} is cancelled.\nKind regards`);
  return `I cancelled order ${order.id} and told the customer by mail.`;
}

async function parcel(session: AgentSession, order: Order): Promise<string> {
  const shipment = items(await read(session, 'track_shipment', { order_id: order.id }), 'shipments')[0];
  const carrier = String(shipment?.['status'] ?? 'unknown');
  if (carrier === 'lost' && order.refunded === 0 && order.total <= (LIMITS[roleOf(session)] ?? 0)) {
    await write(session, 'issue_refund', { order_id: order.id, amount: order.total, reason: 'lost' });
    await tell(session, order, `Hello,\nthe parcel of order ${order.id} is lost. We have refunded ${eur(order.total)}.\nKind regards`);
    return `I refunded ${eur(order.total)} for order ${order.id}, since the parcel is lost, and told the customer by mail.`;
  }
  if (order.status !== 'delivered' || carrier === 'delivered') return `Order ${order.id} is ${order.status}; the carrier says ${carrier}. I changed nothing.`;
  await write(session, 'create_ticket', {
    subject: `Order ${order.id}: two systems disagree`,
    body: `Order ${order.id}. The order system says ${order.status}; the carrier says ${carrier}: ${shipment?.['last_event']}.`,
    requester: order.email,
    assignee: 'logistics',
  });
  const both = `The order system says ${order.status}, the carrier says ${carrier}.`;
  return `The two systems disagree about order ${order.id}. ${both} I opened a ticket for logistics.`;
}

/** The order that is named; else the only one that fits the customer, the product and the wish. */
async function findOrder(session: AgentSession, request: string, ticket: JsonObject | null, about: string): Promise<Order | null> {
  const named = /\border (5\d{3})\b/i.exec(request)?.[1] ?? /\border (5\d{3})\b/i.exec(about)?.[1];
  if (named !== undefined) {
    const order = await readOrder(session, Number(named));
    return ticket === null || order.email === ticket['requester'] ? order : null;
  }
  const name = /\b(?:Mr|Ms) ([A-Z]\w+)/.exec(request)?.[1] ?? /\b[A-Z][a-z]+ [A-Z][a-z]+\b/.exec(request)?.[0];
  const query = ticket === null ? name : String(ticket['requester']);
  if (query === undefined) return null;
  let customers = items(await read(session, 'search_customers', { query }), 'customers');
  if (customers.length > 1) customers = customers.filter((customer) => request.includes(String(customer['city'])));
  const customer = customers[0];
  if (customer === undefined || customers.length > 1) return null;
  const found = items(await read(session, 'search_orders', { customer_id: Number(customer['id']) }), 'orders').slice(0, 5);
  const orders: Order[] = [];
  for (const { id } of found) orders.push(await readOrder(session, Number(id)));
  const fitting = orders.filter((order) => order.lines.some((line) => mentions(about, line.product)));
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

async function readOrder(session: AgentSession, id: number): Promise<Order> {
  const order = await read(session, 'get_order', { order_id: id });
  return {
    id,
    status: String(order['status']),
    email: String((order['customer'] as JsonObject)['email']),
    total: Number(order['total']),
    refunded: Number(order['refunded']),
    deliveredAt: order['delivered_at'] === null ? null : String(order['delivered_at']),
    lines: items(order, 'lines').map((line) => ({
      id: Number(line['id']),
      product: String(line['product']),
      quantity: Number(line['quantity']),
      price: Number(line['unit_price']),
    })),
  };
}

/** Whether the text speaks of a product: its last word, or its first. The plural counts; a product that is fine or an address does not matter here. */
function mentions(text: string, product: string): boolean {
  const words = product
    .toLowerCase()
    .split(' ')
    .filter((word) => /^[a-z]{3,}$/.test(word));
  const complaint = text.replace(/[^.\n]*\b(?:are|is) fine\b[^.\n]*/gi, '');
  return words.some((word) => new RegExp(`\\b${word}s?\\b`, 'i').test(complaint));
}

async function tell(session: AgentSession, order: Order, text: string): Promise<void> {
  await write(session, 'send_mail', { to: [order.email], subject: `Your order ${order.id}`, text });
}

async function read(session: AgentSession, tool: string, args: JsonObject): Promise<JsonObject> {
  const call = await session.call(tool, args);
  if (call.state === 'committed') return call.result as JsonObject;
  throw new Stop(`I changed nothing: ${tool} gave no answer (${reason(call)}).`);
}

/** Once. What is refused or unknown is reported, never tried again. */
async function write(session: AgentSession, tool: string, args: JsonObject): Promise<void> {
  const call = await session.call(tool, args);
  if (call.state === 'committed') return;
  if (call.state === 'unknown') throw new Stop(`It is not known whether ${tool} had its effect; please check before anybody tries again.`);
  throw new Stop(`Nothing was done by ${tool}: ${reason(call)}.`);
}

function reason({ state, problem }: CallResult): string {
  return problem === null ? state : problem.message.replace(/\.$/, '');
}

function items(from: JsonObject, name: string): readonly JsonObject[] {
  const found: Json | undefined = from[name];
  return Array.isArray(found) ? (found as readonly JsonObject[]) : [];
}

function roleOf({ instructions }: AgentSession): string {
  return /whose role is "(\w+)"/.exec(instructions)?.[1] ?? '';
}

function nowOf({ instructions }: AgentSession): number {
  return Date.parse(/\d{4}-\d\d-\d\dT[^ ]+/.exec(instructions)?.[0] ?? '');
}

function eur(amount: number): string {
  return `${amount.toFixed(2)} EUR`;
}

function longDate(iso: string): string {
  return new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'Europe/Berlin' });
}
