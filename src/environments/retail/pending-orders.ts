import { exchanged, pairItems, priceDifference } from './items.ts';
import { amountOf, centsOf, credited, fallsShort, methodOf, namesGiftCard } from './money.ts';
import { type RefusalCode, refusal } from './refusal.ts';
import type { Address, Order, Payment, PaymentMethods, Shop } from './shop.ts';

const REASONS = ['no longer needed', 'ordered by mistake'];

/**
 * Cancels a pending order and refunds each entry of its payment history.
 * @throws {ToolFailure} `order_not_found`, `cancel_not_pending`, `invalid_reason`
 */
export async function cancelOrder(shop: Shop, { order_id: id, reason }: { readonly order_id: string; readonly reason: string }): Promise<void> {
  const order = await pendingOrder(shop, id, 'cancel_not_pending');
  if (!REASONS.includes(reason)) throw refusal('invalid_reason');
  const refunds = order.payment_history.map((entry): Payment => ({ ...entry, transaction_type: 'refund' }));
  const onCards = refunds.filter((entry) => namesGiftCard(entry.payment_method_id));
  if (onCards.length > 0) {
    const methods = await methodsOfOwner(shop, order);
    const credit = (all: PaymentMethods, entry: Payment): PaymentMethods => credited(all, entry.payment_method_id, centsOf(entry.amount));
    await shop.changeUser(order.user_id, { payment_methods: onCards.reduce(credit, methods) });
  }
  await shop.changeOrder(id, { status: 'cancelled', cancel_reason: reason, payment_history: [...order.payment_history, ...refunds] });
}

/**
 * Sends a pending order to another address. It stays pending, so that the same call again succeeds.
 * @throws {ToolFailure} `order_not_found`, `modify_not_pending`
 */
export async function modifyAddress(shop: Shop, { order_id: id, ...address }: { readonly order_id: string } & Address): Promise<void> {
  await pendingOrder(shop, id, 'modify_not_pending');
  await shop.changeOrder(id, { address });
}

/**
 * Moves the payment of a pending order to another method of its owner. It stays pending.
 * @throws {ToolFailure} `order_not_found`, `modify_not_pending`, `payment_method_not_found`, `not_one_payment`, `same_payment_method`, `balance_below_order`
 */
export async function modifyPayment(
  shop: Shop,
  { order_id: id, payment_method_id: newId }: { readonly order_id: string; readonly payment_method_id: string },
): Promise<void> {
  const order = await pendingOrder(shop, id, 'modify_not_pending');
  const methods = await methodsOfOwner(shop, order);
  const method = methodOf(methods, newId);
  if (method === null) throw refusal('payment_method_not_found');
  const [first] = order.payment_history;
  if (first === undefined || order.payment_history.length > 1 || first.transaction_type !== 'payment') throw refusal('not_one_payment');
  if (first.payment_method_id === newId) throw refusal('same_payment_method');
  const cents = centsOf(first.amount);
  if (fallsShort(method, cents)) throw refusal('balance_below_order');
  const history: readonly Payment[] = [
    ...order.payment_history,
    { transaction_type: 'payment', amount: first.amount, payment_method_id: newId },
    { transaction_type: 'refund', amount: first.amount, payment_method_id: first.payment_method_id },
  ];
  await shop.changeOrder(id, { payment_history: history });
  const moved = credited(credited(methods, newId, -cents), first.payment_method_id, cents);
  if (moved !== methods) await shop.changeUser(order.user_id, { payment_methods: moved });
}

/**
 * Exchanges items of a pending order for others of the same products, and books the difference. Afterwards it is `pending (item modified)`, which can neither be
 * modified nor cancelled.
 * @throws {ToolFailure} `order_not_found`, `modify_not_pending`, `item_not_found`, `item_counts_differ`, `new_item_unavailable`, `payment_method_not_found`,
 * `balance_below_item`
 */
export async function modifyItems(
  shop: Shop,
  args: { readonly order_id: string; readonly item_ids: readonly string[]; readonly new_item_ids: readonly string[]; readonly payment_method_id: string },
): Promise<void> {
  const { order_id: id, payment_method_id: methodId } = args;
  const order = await pendingOrder(shop, id, 'modify_not_pending');
  const pairs = await pairItems(shop, order, args.item_ids, args.new_item_ids);
  const methods = await methodsOfOwner(shop, order);
  const method = methodOf(methods, methodId);
  if (method === null) throw refusal('payment_method_not_found');
  const difference = priceDifference(order, pairs);
  if (fallsShort(method, difference)) throw refusal('balance_below_item');
  const entry: Payment = {
    transaction_type: difference > 0 ? 'payment' : 'refund',
    amount: amountOf(Math.abs(difference)),
    payment_method_id: methodId,
  };
  await shop.changeOrder(id, {
    items: exchanged(order.items, pairs),
    status: 'pending (item modified)',
    payment_history: [...order.payment_history, entry],
  });
  if (method.source === 'gift_card') await shop.changeUser(order.user_id, { payment_methods: credited(methods, methodId, -difference) });
}

async function pendingOrder(shop: Shop, id: string, otherwise: RefusalCode): Promise<Order> {
  const order = await shop.order(id);
  if (order === null) throw refusal('order_not_found');
  if (order.status !== 'pending') throw refusal(otherwise);
  return order;
}

async function methodsOfOwner(shop: Shop, order: Order): Promise<PaymentMethods> {
  const owner = await shop.user(order.user_id);
  if (owner === null) throw refusal('user_not_found');
  return owner.payment_methods;
}
