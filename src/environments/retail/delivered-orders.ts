import { itemBeyond, pairItems, priceDifference } from './items.ts';
import { amountOf, fallsShort, methodOf, namesGiftCard } from './money.ts';
import { type RefusalCode, refusal } from './refusal.ts';
import type { Order, PaymentMethod, Shop } from './shop.ts';

/**
 * Asks for items of a delivered order to be exchanged. Nothing is booked; the order can neither be exchanged nor returned again.
 * @throws {ToolFailure} `order_not_found`, `exchange_not_delivered`, `item_not_found`, `item_counts_differ`, `new_item_unavailable`, `payment_method_not_found`,
 * `balance_below_difference`
 */
export async function exchangeItems(
  shop: Shop,
  args: { readonly order_id: string; readonly item_ids: readonly string[]; readonly new_item_ids: readonly string[]; readonly payment_method_id: string },
): Promise<void> {
  const { order_id: id, payment_method_id: methodId } = args;
  const order = await deliveredOrder(shop, id, 'exchange_not_delivered');
  const pairs = await pairItems(shop, order, args.item_ids, args.new_item_ids);
  const method = await methodOfOwner(shop, order, methodId);
  const difference = priceDifference(order, pairs);
  if (fallsShort(method, difference)) throw refusal('balance_below_difference');
  // Each list is sorted on its own: which item is exchanged for which is not kept.
  await shop.changeOrder(id, {
    status: 'exchange requested',
    exchange_items: args.item_ids.toSorted(),
    exchange_new_items: args.new_item_ids.toSorted(),
    exchange_payment_method_id: methodId,
    exchange_price_difference: amountOf(difference),
  });
}

/**
 * Asks for items of a delivered order to be returned. No refund is booked; the order can neither be exchanged nor returned again.
 * @throws {ToolFailure} `order_not_found`, `return_not_delivered`, `payment_method_not_found`, `foreign_payment_method`, `some_item_not_found`
 */
export async function returnItems(
  shop: Shop,
  args: { readonly order_id: string; readonly item_ids: readonly string[]; readonly payment_method_id: string },
): Promise<void> {
  const { order_id: id, item_ids: itemIds, payment_method_id: methodId } = args;
  const order = await deliveredOrder(shop, id, 'return_not_delivered');
  await methodOfOwner(shop, order, methodId);
  if (!namesGiftCard(methodId) && methodId !== order.payment_history[0]?.payment_method_id) throw refusal('foreign_payment_method');
  if (itemBeyond(order, itemIds) !== null) throw refusal('some_item_not_found');
  await shop.changeOrder(id, { status: 'return requested', return_items: itemIds.toSorted(), return_payment_method_id: methodId });
}

async function deliveredOrder(shop: Shop, id: string, otherwise: RefusalCode): Promise<Order> {
  const order = await shop.order(id);
  if (order === null) throw refusal('order_not_found');
  if (order.status !== 'delivered') throw refusal(otherwise);
  return order;
}

async function methodOfOwner(shop: Shop, order: Order, methodId: string): Promise<PaymentMethod> {
  const owner = await shop.user(order.user_id);
  const method = owner === null ? null : methodOf(owner.payment_methods, methodId);
  if (method === null) throw refusal('payment_method_not_found');
  return method;
}
