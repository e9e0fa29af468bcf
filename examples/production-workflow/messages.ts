/** What the workflow takes and gives; shared by the workflow, its worker and its clients. Types alone, so that nothing of a client reaches the workflow. */

export interface RefundRequest {
  readonly order: string;
  /** In cents. */
  readonly amount: number;
  readonly customer: string;
}

export type RefundResult =
  | { readonly refund: 'made'; readonly id: string; readonly told: 'yes' | 'no' }
  | { readonly refund: 'not made'; readonly why: string; readonly told: 'yes' | 'no' }
  /** Nobody could find out: a ticket asks a person to. */
  | { readonly refund: 'unknown'; readonly ticket: string | null };
