import type { Money } from '../domain/model.ts';
import type { BatchSummary } from '../domain/trial.ts';
import type { Store, TrialRow } from '../store/store.ts';
import { patiently } from './patiently.ts';

/** Stops a batch from launching trials once its models have cost a limit. */
export class CostLimit {
  private readonly store: Pick<Store, 'spent'>;
  private readonly batch: string;
  private readonly limit: Money | null;
  private spent: Money | null = null;

  constructor(store: Pick<Store, 'spent'>, batch: string, limit: Money | null) {
    this.store = store;
    this.batch = batch;
    this.limit = limit;
  }

  /** Whether one more trial may be launched. */
  async permits(): Promise<boolean> {
    const { limit } = this;
    if (limit === null || this.spent !== null) return this.spent === null;
    const amount = await patiently(() => this.store.spent(this.batch, limit.currency));
    if (amount >= limit.amount) this.spent = { amount, currency: limit.currency };
    return this.spent === null;
  }

  /** What it kept from being launched. */
  stopped(rows: readonly TrialRow[]): Pick<BatchSummary, 'stopped'> {
    const left = rows.filter(({ phase, attempt }) => phase === 'waiting' && attempt === 0).length;
    return this.limit !== null && this.spent !== null && left > 0 ? { stopped: { limit: this.limit, spent: this.spent, left } } : {};
  }
}
