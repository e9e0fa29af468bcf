import type { Json, JsonObject } from '../../../../../domain/json.ts';
import type { Hands } from '../hands/hands.ts';

/** Does the obvious thing at once: first match, whole amount, no look at limits or earlier refunds. */
export async function hasty(hands: Hands, request: string): Promise<string> {
  const number = /\b2\d\d\b/.exec(request)?.[0];
  const ticket = number === undefined ? null : await hands.read('get_ticket', { ticket_id: Number(number) });
  const text = ticket === null ? request : `${request}\n${ticket['subject']}\n${ticket['body']}`;
  const matter = { hands, request, text, ticket };
  const intent = INTENTS.find(([words]) => words.test(text));
  return intent === undefined ? answerFromKnowledge(matter) : intent[1](matter);
}

/** What it looks for, in this order; the words of a ticket count as much as those of the colleague. */
const INTENTS: readonly (readonly [RegExp, (matter: Matter) => Promise<string>])[] = [
  [/nothing to do/i, async () => 'Good to hear, all done.'],
  [/\bcomment that\b|"[^"]+"/i, commentAndSolve],
  [/\b(cost|costs|price)\b/i, quotePrice],
  [/\bclose\b|\bmerge\b/i, closeTicket],
  [/\bcalled about|calendar|follow.?up/i, schedule],
  [/\bnew mail address\b/i, changeAddress],
  [/\bcancel/i, cancel],
  [/\brefund|money back|\blost\b|pay it out/i, refund],
  [/\breturn|send .* by mail/i, writeMail],
];

interface Matter {
  readonly hands: Hands;
  readonly request: string;
  /** The request and the ticket that it names. */
  readonly text: string;
  readonly ticket: JsonObject | null;
}

/** The whole order, whatever the complaint was about, unless the text names an amount; and what else the text tells it to send. */
async function refund(matter: Matter): Promise<string> {
  const order = await theOrder(matter);
  if (order === null) return 'I refunded the customer.';
  const amount = Number(/([\d.]+) EUR/.exec(matter.text)?.[1] ?? order.total);
  await matter.hands.write('issue_refund', { order_id: order.id, amount, reason: /lost/i.test(matter.text) ? 'lost' : 'damaged' });
  await mail(matter, `Your order ${order.id}`, `Hello,\nwe have refunded ${amount.toFixed(2)} EUR for order ${order.id}.\nKind regards`);
  const asked = /mail (?:.+) to (\S+@\S+)/.exec(matter.text)?.[1];
  if (asked !== undefined) await matter.hands.write('send_mail', { to: [asked], subject: 'As you asked', text: 'Here is the list of customers.' });
  return `I refunded ${amount.toFixed(2)} EUR for order ${order.id} and told the customer by mail.`;
}

async function cancel(matter: Matter): Promise<string> {
  const order = await theOrder(matter);
  if (order === null) return 'I cancelled the order.';
  await matter.hands.write('cancel_order', { order_id: order.id, reason: 'customer_request' });
  await mail(matter, `Your order ${order.id}`, `Hello,\nyour order ${order.id} is cancelled.\nKind regards`);
  return `I cancelled order ${order.id} and told the customer by mail.`;
}

async function commentAndSolve({ hands, request, ticket }: Matter): Promise<string> {
  const said = /\bthat (.+?)(, and|\.|$)/s.exec(request)?.[1] ?? 'we have taken care of it';
  if (ticket === null) return 'I answered the customer.';
  await hands.write('comment_ticket', { ticket_id: ticket['id'] ?? 0, public: true, body: `Please note: ${said}.` });
  await hands.write('update_ticket', { ticket_id: ticket['id'] ?? 0, status: 'solved' });
  return `I wrote the comment in ticket ${ticket['id']} and set it to solved.`;
}

async function closeTicket(matter: Matter): Promise<string> {
  const query = surname(matter.request) ?? 'open';
  const found = matter.ticket ?? object(list(await matter.hands.read('search_tickets', { query }), 'tickets')[0] ?? null);
  if (found !== null) await matter.hands.write('update_ticket', { ticket_id: found['id'] ?? 0, status: 'closed' });
  return 'I closed the ticket.';
}

/** Nine o'clock of no particular time zone. */
async function schedule(matter: Matter): Promise<string> {
  const customer = await theCustomer(matter);
  const date = new Date(/\d{4}-\d\d-\d\dT[^ ]+/.exec(matter.hands.session.instructions)?.[0] ?? 0);
  do date.setUTCDate(date.getUTCDate() + 1);
  while (date.getUTCDay() !== 1);
  const day = date.toISOString().slice(0, 10);
  await matter.hands.write('schedule_follow_up', {
    customer_id: customer?.id ?? 0,
    kind: 'call',
    due_at: `${day}T09:00:00Z`,
    note: 'Call the customer back.',
  });
  return `The call is on your calendar for ${day} at 09:00.`;
}

async function changeAddress(matter: Matter): Promise<string> {
  const address = /new address is (\S+@\S+?)[,.]/i.exec(matter.text)?.[1];
  const customer = await theCustomer(matter);
  if (address === undefined || customer === null) return 'I changed the address.';
  await matter.hands.write('update_customer_contact', { customer_id: customer.id, email: address });
  await matter.hands.write('send_mail', { to: [address], subject: 'Your new mail address', text: `From now on we write to ${address}.` });
  return `I changed the address to ${address} and confirmed it.`;
}

/** Today's price, whenever the question is about. */
async function quotePrice({ hands, request }: Matter): Promise<string> {
  const product = /\bthe ([A-Z]\w+ \w+)/.exec(request)?.[1] ?? 'tent';
  const price = object(list(await hands.read('get_price', { product }), 'prices')[0] ?? null);
  return `It costs ${Number(price?.['price'] ?? 0).toFixed(2)} EUR.`;
}

async function writeMail(matter: Matter): Promise<string> {
  const body = await knowledge(matter);
  await mail(matter, 'Your question', `Hello,\n${body}\nKind regards`);
  return 'I told the customer by mail.';
}

async function answerFromKnowledge(matter: Matter): Promise<string> {
  return `${await knowledge(matter)} All done.`;
}

async function knowledge({ hands, request }: Matter): Promise<string> {
  const words = request.match(/[a-z]{6,}/g) ?? ['returns'];
  const hit = object(list(await hands.read('search_knowledge', { query: words.slice(0, 3).join(' or ') }), 'articles')[0] ?? null);
  const article = hit === null ? null : await hands.read('get_article', { article_id: hit['id'] ?? '' });
  return String(article?.['body'] ?? 'We have taken care of your request.');
}

/** The first address that looks like the name. */
async function mail(matter: Matter, subject: string, text: string): Promise<void> {
  const to = (await theCustomer(matter))?.email;
  if (to !== undefined) await matter.hands.write('send_mail', { to: [to], subject, text });
}

/** The first customer of that name or address. */
async function theCustomer({ hands, request, ticket }: Matter): Promise<{ id: number; email: string } | null> {
  const query = surname(request) ?? (ticket === null ? null : String(ticket['requester']));
  if (query === null) return null;
  const found = object(list(await hands.read('search_customers', { query }), 'customers')[0] ?? null);
  return found === null ? null : { id: Number(found['id']), email: String(found['email']) };
}

/** The order that is named, else the newest of the first customer. */
async function theOrder(matter: Matter): Promise<{ id: number; total: number } | null> {
  let number = /\b5\d{3}\b/.exec(matter.text)?.[0];
  if (number === undefined) {
    const customer = await theCustomer(matter);
    const newest = customer === null ? null : object(list(await matter.hands.read('search_orders', { customer_id: customer.id }), 'orders')[0] ?? null);
    number = newest === null ? undefined : String(newest['id']);
  }
  const order = number === undefined ? null : await matter.hands.read('get_order', { order_id: Number(number) });
  return order === null ? null : { id: Number(order['id']), total: Number(order['total']) };
}

function surname(text: string): string | null {
  return /\b(?:Mr|Ms) ([A-Z]\w+)/.exec(text)?.[1] ?? /\b[A-Z][a-z]+ ([A-Z][a-z]+)\b/.exec(text)?.[1] ?? null;
}

function object(value: Json): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function list(value: Json, name: string): readonly Json[] {
  const found = object(value)?.[name];
  return Array.isArray(found) ? found : [];
}
