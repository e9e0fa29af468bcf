import type { ModelTotals } from '../domain/model.ts';

/** Cost for people. What was not measured is never 0. */
export function costText(totals: Pick<ModelTotals, 'cost' | 'unmeasured'> | null | undefined): string {
  if (!totals?.cost) return 'not measured';
  const { cost, unmeasured } = totals;
  const amounts = Object.entries(cost).map(([currency, amount]) => `${amountText(amount)} ${currency}`);
  return [...amounts, ...(unmeasured.cost > 0 ? [`${unmeasured.cost} calls not measured`] : [])].join(' + ');
}

/** Tokens for people. */
export function tokensText(totals: Pick<ModelTotals, 'tokens' | 'unmeasured'> | null | undefined): string {
  if (!totals?.tokens) return 'not measured';
  const { tokens, unmeasured } = totals;
  const parts = [`${tokens.input} in`, ...(tokens.cached > 0 ? [`(${tokens.cached} cached)`] : []), `${tokens.output} out`];
  return `${parts.join(' ')}${unmeasured.tokens > 0 ? ` + ${unmeasured.tokens} calls not measured` : ''}`;
}

/** Seconds for one call, of those that were replied to. */
export function latencyText({ calls, latencyMs, unanswered }: Pick<ModelTotals, 'calls' | 'latencyMs' | 'unanswered'>): string {
  const replied = calls - unanswered;
  return replied === 0 ? 'none' : `${(latencyMs / replied / 1000).toFixed(2)} s`;
}

/** Six significant digits, without an exponent. */
function amountText(amount: number): string {
  return amount === 0 ? '0' : amount.toLocaleString('en-US', { maximumSignificantDigits: 6, useGrouping: false });
}
