import type { PaymentMethod, PaymentMethods } from './shop.ts';

/** An amount of at most 2 decimals in whole cents: sums of cents are exact. */
export function centsOf(amount: number): number {
  return Math.round(amount * 100);
}

/** Whole cents as an amount; its shortest decimal form has at most 2 decimals. */
export function amountOf(cents: number): number {
  // Adding 0 makes a plain zero of a negative one.
  return cents / 100 + 0;
}

/** The method of this id, or null. */
export function methodOf(methods: PaymentMethods, id: string): PaymentMethod | null {
  return Object.hasOwn(methods, id) ? (methods[id] ?? null) : null;
}

/** Whether a method is a gift card that holds less than this. */
export function fallsShort(method: PaymentMethod, cents: number): boolean {
  return method.source === 'gift_card' && centsOf(method.balance ?? 0) < cents;
}

/** Whether the id is that of a gift card: the id of a method begins with its source. */
export function namesGiftCard(methodId: string): boolean {
  return methodId.includes('gift_card');
}

/** The methods with `cents` more on this gift card. An id that is no method of theirs, or no gift card's, changes nothing. */
export function credited(methods: PaymentMethods, id: string, cents: number): PaymentMethods {
  const method = methodOf(methods, id);
  if (method === null || method.balance === undefined) return methods;
  return { ...methods, [id]: { ...method, balance: amountOf(centsOf(method.balance) + cents) } };
}
