import type { Json } from '../../domain/json.ts';

export type Address = {
  readonly address1: string;
  readonly address2: string;
  readonly city: string;
  readonly country: string;
  readonly state: string;
  readonly zip: string;
};

export type Options = { readonly [name: string]: string };

/** One item of an order. An order may hold the same item twice: items are a list. Prices have at most 2 decimals. */
export type Item = { readonly name: string; readonly product_id: string; readonly item_id: string; readonly price: number; readonly options: Options };

export type Payment = { readonly transaction_type: 'payment' | 'refund'; readonly amount: number; readonly payment_method_id: string };

export type PaymentMethod = { readonly source: string; readonly id: string; readonly balance?: number; readonly [fact: string]: Json | undefined };

export type PaymentMethods = { readonly [id: string]: PaymentMethod };

export type Variant = { readonly item_id: string; readonly options: Options; readonly available: boolean; readonly price: number };

/** What the writes read of an order. */
export type Order = {
  readonly order_id: string;
  readonly user_id: string;
  readonly items: readonly Item[];
  readonly status: string;
  readonly payment_history: readonly Payment[];
};

/** What the writes read of a user. */
export type User = { readonly payment_methods: PaymentMethods };

/** Members of an order that writes set. */
export type OrderChanges = {
  readonly address?: Address;
  readonly items?: readonly Item[];
  readonly status?: string;
  readonly payment_history?: readonly Payment[];
  readonly cancel_reason?: string;
  readonly exchange_items?: readonly string[];
  readonly exchange_new_items?: readonly string[];
  readonly exchange_payment_method_id?: string;
  readonly exchange_price_difference?: number;
  readonly return_items?: readonly string[];
  readonly return_payment_method_id?: string;
};

export type UserChanges = { readonly address?: Address; readonly payment_methods?: PaymentMethods };

/** The shop's records, as its rules read and change them. Ids are compared exactly; what is not there is null. */
export interface Shop {
  order(orderId: string): Promise<Order | null>;
  user(userId: string): Promise<User | null>;
  /** A variant of this product; an item of another product is not found. */
  variant(productId: string, itemId: string): Promise<Variant | null>;
  changeOrder(orderId: string, changes: OrderChanges): Promise<void>;
  changeUser(userId: string, changes: UserChanges): Promise<void>;
}
