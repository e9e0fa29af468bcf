import { ToolFailure } from '../define.ts';

/** Why the shop refuses a call, by code. `<id>` is the item that it is about. */
const TEXTS = {
  user_not_found: 'user not found',
  order_not_found: 'order not found',
  product_not_found: 'product not found',
  cancel_not_pending: 'non-pending order cannot be cancelled',
  modify_not_pending: 'non-pending order cannot be modified',
  exchange_not_delivered: 'non-delivered order cannot be exchanged',
  return_not_delivered: 'non-delivered order cannot be returned',
  invalid_reason: 'invalid reason',
  payment_method_not_found: 'payment method not found',
  not_one_payment: 'there should be exactly one payment for a pending order',
  same_payment_method: 'the new payment method should be different from the current one',
  balance_below_order: 'insufficient gift card balance to pay for the order',
  balance_below_item: 'insufficient gift card balance to pay for the new item',
  balance_below_difference: 'insufficient gift card balance to pay for the price difference',
  item_not_found: '<id> not found',
  item_counts_differ: 'the number of items to be exchanged should match',
  new_item_unavailable: 'new item <id> not found or available',
  foreign_payment_method: 'payment method should be either the original payment method or a gift card',
  some_item_not_found: 'some item not found',
  invalid_characters: 'invalid characters in expression',
  invalid_expression: '<id>',
} as const;

export type RefusalCode = keyof typeof TEXTS;

/** Codes with which the tools of the shop may end. */
export const REFUSALS = Object.keys(TEXTS) as readonly RefusalCode[];

/** Long ids are the agent's own words, and a refusal travels further than arguments do. */
const MAX_ID = 200;

/**
 * A refusal of the shop: its text is that of the original, `Error: ` included. All checks come before the first change, so that it is known to have had no
 * effect: in the ledger the operation has failed, and a second call that is refused can be told from one that overwrites.
 */
export function refusal(code: RefusalCode, id = ''): ToolFailure {
  return new ToolFailure(code, `Error: ${TEXTS[code].replace('<id>', () => id.slice(0, MAX_ID))}`);
}
