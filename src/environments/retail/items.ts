import { centsOf } from './money.ts';
import { refusal } from './refusal.ts';
import type { Item, Order, Shop, Variant } from './shop.ts';

/** One item of an order and what takes its place. */
export interface Exchange {
  readonly from: string;
  readonly to: Variant;
}

/** The first id that is named more often than the order has it, or null. */
export function itemBeyond(order: Order, itemIds: readonly string[]): string | null {
  const held = counts(order.items.map((item) => item.item_id));
  const named = counts(itemIds);
  return itemIds.find((id) => (named.get(id) ?? 0) > (held.get(id) ?? 0)) ?? null;
}

/**
 * Pairs items of the order with new ones of the same products, by place.
 * @throws {ToolFailure} `item_not_found`, `item_counts_differ`, `new_item_unavailable`
 */
export async function pairItems(shop: Shop, order: Order, itemIds: readonly string[], newItemIds: readonly string[]): Promise<readonly Exchange[]> {
  const beyond = itemBeyond(order, itemIds);
  if (beyond !== null) throw refusal('item_not_found', beyond);
  if (itemIds.length !== newItemIds.length) throw refusal('item_counts_differ');
  const pairs: Exchange[] = [];
  for (const [at, from] of itemIds.entries()) {
    const newId = newItemIds[at] ?? '';
    const item = itemOf(order.items, from);
    const to = item === null ? null : await shop.variant(item.product_id, newId);
    if (to === null || !to.available) throw refusal('new_item_unavailable', newId);
    pairs.push({ from, to });
  }
  return pairs;
}

/** What the new items cost more than the old ones did, in cents; negative when they cost less. */
export function priceDifference(order: Order, pairs: readonly Exchange[]): number {
  return pairs.reduce((sum, { from, to }) => sum + centsOf(to.price) - centsOf(itemOf(order.items, from)?.price ?? 0), 0);
}

/** The items after the pairs were applied one after the other, each to the first item that has the old id by then. */
export function exchanged(items: readonly Item[], pairs: readonly Exchange[]): readonly Item[] {
  const result = [...items];
  for (const { from, to } of pairs) {
    const at = result.findIndex((item) => item.item_id === from);
    const item = result[at];
    if (item !== undefined) result[at] = { ...item, item_id: to.item_id, price: to.price, options: to.options };
  }
  return result;
}

function itemOf(items: readonly Item[], id: string): Item | null {
  return items.find((item) => item.item_id === id) ?? null;
}

function counts(ids: readonly string[]): ReadonlyMap<string, number> {
  const result = new Map<string, number>();
  for (const id of ids) result.set(id, (result.get(id) ?? 0) + 1);
  return result;
}
