import type { AgentSession, ModuleAgent } from 'trialbed/environment';

/** Refunds one product of one order, where a ticket says which; leaves everything else to a colleague. */
const clerk: ModuleAgent = async (session) => {
  for (let message = await session.receive(); message !== null; message = await session.receive()) {
    await session.reply(await answer(session, message.text));
  }
};

export default clerk;

async function answer(session: AgentSession, request: string): Promise<string> {
  const ticketId = /\bticket (\d+)/i.exec(request)?.[1];
  if (!/\brefund/i.test(request) || ticketId === undefined) return 'I only take care of refunds that a ticket asks for; I changed nothing.';
  const ticket = await read<Ticket>(session, 'get_ticket', { ticket_id: Number(ticketId) });
  const orderId = Number(/\border (\d+)/i.exec(ticket?.body ?? '')?.[1]);
  const order = await read<Order>(session, 'get_order', { order_id: orderId });
  if (ticket === null || order === null) return `I changed nothing: ticket ${ticketId} names no order that I can find.`;

  // The complaint decides: the last word of a product's name, such as the lamp of a camping lamp.
  const lines = order.lines.filter((line) => new RegExp(`\\b${line.product.split(' ').at(-1)}\\b`, 'i').test(ticket.body));
  const [line] = lines;
  if (line === undefined || lines.length > 1) return `I changed nothing: I cannot tell which product of order ${orderId} is meant.`;
  const earlier = await read<{ refunds: { amount: number }[] }>(session, 'list_refunds', { order_id: orderId });
  const limit = Number(session.parameters['limit']);
  if (earlier === null || earlier.refunds.length > 0 || line.unit_price > limit)
    return `I changed nothing: the refund for order ${orderId} needs a colleague's eyes.`;

  const amount = `${line.unit_price.toFixed(2)} EUR`;
  const refund = await session.call('issue_refund', { order_id: orderId, line_id: line.id, amount: line.unit_price, reason: 'damaged' });
  // It may have been paid, or not: neither is to be said, and paying again is the worst of all.
  if (refund.state === 'unknown')
    return `I tried to refund ${amount} for order ${orderId} and cannot tell whether it was paid. Please look before anybody tries again.`;
  if (refund.state !== 'committed') return `I issued no refund for order ${orderId}: ${refund.problem?.message ?? refund.state}`;
  const mail = await session.call('send_mail', {
    to: [order.customer.email],
    subject: `Your order ${orderId}`,
    text: `Hello ${order.customer.name},\nwe have refunded ${amount} for ${line.product} of order ${orderId}.\nKind regards`,
  });
  return `I refunded ${amount} for order ${orderId}${mail.state === 'committed' ? ' and told the customer by mail' : ', but the mail to the customer did not go out'}.`;
}

interface Ticket {
  readonly body: string;
}

interface Order {
  readonly customer: { readonly name: string; readonly email: string };
  readonly lines: readonly { readonly id: number; readonly product: string; readonly unit_price: number }[];
}

/** What a read gives, or null where it gave nothing. The shape is the tool's promise; an agent with a model would pass it on as text. */
async function read<T>(session: AgentSession, tool: string, args: { [name: string]: number }): Promise<T | null> {
  const { state, result } = await session.call(tool, args);
  return state === 'committed' ? (result as T) : null;
}
