import type { Json, JsonObject } from '../../../../../domain/json.ts';
import type { Hands } from '../hands/hands.ts';

export interface Order {
  readonly id: number;
  readonly status: string;
  readonly email: string;
  readonly total: number;
  readonly refunded: number;
  readonly deliveredAt: string | null;
  readonly lines: readonly { readonly id: number; readonly product: string; readonly quantity: number; readonly price: number }[];
}

/** The order that is named; else the only one that fits the customer, the product and the wish. Null: it cannot be told. */
export async function findOrder(hands: Hands, request: string, ticket: JsonObject | null, about: string): Promise<Order | null> {
  const named = /\border (5\d{3})\b/i.exec(request)?.[1] ?? /\border (5\d{3})\b/i.exec(about)?.[1];
  if (named !== undefined) {
    const order = await readOrder(hands, Number(named));
    return ticket === null || order.email === ticket['requester'] ? order : null;
  }
  const name = /\b(?:Mr|Ms) ([A-Z]\w+)/.exec(request)?.[1] ?? /\b[A-Z][a-z]+ [A-Z][a-z]+\b/.exec(request)?.[0];
  const query = ticket === null ? name : String(ticket['requester']);
  if (query === undefined) return null;
  let customers = items(await hands.read('search_customers', { query }), 'customers');
  if (customers.length > 1) customers = customers.filter((customer) => request.includes(String(customer['city'])));
  const customer = customers[0];
  if (customer === undefined || customers.length > 1) return null;
  const found = items(await hands.read('search_orders', { customer_id: Number(customer['id']) }), 'orders').slice(0, 5);
  const orders: Order[] = [];
  for (const { id } of found) orders.push(await readOrder(hands, Number(id)));
  const fitting = orders.filter((order) => order.lines.some((line) => mentions(about, line.product)));
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

export async function readOrder(hands: Hands, id: number): Promise<Order> {
  const order = await hands.read('get_order', { order_id: id });
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

/** Whether what a decision rests on is as it was when the order was read first. */
export function sameState(before: Order, now: Order): boolean {
  return before.status === now.status && before.refunded === now.refunded && before.email === now.email;
}

/** Whether the text speaks of a product: its last word, or its first. The plural counts; a product that is fine or an address does not matter here. */
export function mentions(text: string, product: string): boolean {
  const words = product
    .toLowerCase()
    .split(' ')
    .filter((word) => /^[a-z]{3,}$/.test(word));
  const complaint = text.replace(/[^.\n]*\b(?:are|is) fine\b[^.\n]*/gi, '');
  return words.some((word) => new RegExp(`\\b${word}s?\\b`, 'i').test(complaint));
}

export function items(from: JsonObject, name: string): readonly JsonObject[] {
  const found: Json | undefined = from[name];
  return Array.isArray(found) ? (found as readonly JsonObject[]) : [];
}
