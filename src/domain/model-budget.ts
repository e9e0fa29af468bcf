import { addUp, type Money, type ModelUsage } from './model.ts';

/** What the models of a trial may use, beside calls of tools and time. */
export interface ModelBudget {
  /** Calls of the model. */
  readonly steps: number;
  /** Input and output together; null: no limit. */
  readonly tokens: number | null;
  /** Each holds by itself. */
  readonly money: readonly Money[];
}

/** What was used so far. */
export interface ModelSpending {
  readonly steps: number;
  readonly tokens: number;
  readonly money: { readonly [currency: string]: number };
}

export const NOTHING_SPENT: ModelSpending = { steps: 0, tokens: 0, money: {} };

/** Steps of a trial where nobody says otherwise. */
export const DEFAULT_STEPS = 50;

/** What is in force where several limits are: the narrowest of each. */
export function narrowest(
  budgets: readonly { readonly steps?: number | undefined; readonly tokens?: number | undefined; readonly money?: Money | undefined }[],
): ModelBudget {
  const least = (part: 'steps' | 'tokens'): number | null =>
    budgets.reduce<number | null>((low, { [part]: limit }) => (limit === undefined ? low : Math.min(low ?? limit, limit)), null);
  return { steps: least('steps') ?? DEFAULT_STEPS, tokens: least('tokens'), money: budgets.flatMap(({ money }) => money ?? []) };
}

export function spend(before: ModelSpending, usage: ModelUsage | null, price: Money | null): ModelSpending {
  const money = Object.entries(before.money).map(([currency, amount]) => ({ amount, currency }));
  return {
    steps: before.steps + 1,
    tokens: before.tokens + (usage === null ? 0 : usage.input + usage.output),
    money: addUp(price === null ? money : [...money, price]),
  };
}

/** Why no further call of a model is made; null: one may be. A budget that is used up exactly was kept. */
export function usedUp(budget: ModelBudget, spent: ModelSpending): string | null {
  if (spent.steps >= budget.steps) return `The budget of ${budget.steps} model calls is used up.`;
  if (budget.tokens !== null && spent.tokens >= budget.tokens) return `The budget of ${budget.tokens} tokens is used up (${spent.tokens}).`;
  return moneyText(budget, spent, (amount, limit) => amount >= limit);
}

/** Why nothing is done any more of what a reply asked for: it went beyond. Null: it did not. */
export function overdrawn(budget: ModelBudget, spent: ModelSpending): string | null {
  if (budget.tokens !== null && spent.tokens > budget.tokens) return `The budget of ${budget.tokens} tokens is overdrawn (${spent.tokens}).`;
  return moneyText(budget, spent, (amount, limit) => amount > limit);
}

/** What a limit would need to know of a call and does not: a limit on what nobody measures would never be met. Null: nothing is missing. */
export function unmeasured({ tokens, money }: ModelBudget, usage: ModelUsage | null, price: Money | null): 'tokens' | 'prices' | null {
  if (usage === null && (tokens !== null || money.length > 0)) return 'tokens';
  return money.some(({ currency }) => price?.currency !== currency) ? 'prices' : null;
}

function moneyText({ money }: ModelBudget, spent: ModelSpending, over: (amount: number, limit: number) => boolean): string | null {
  const limit = money.find(({ amount, currency }) => over(spent.money[currency] ?? 0, amount));
  return limit === undefined ? null : `The budget of ${limit.amount} ${limit.currency} is used up (${spent.money[limit.currency] ?? 0} ${limit.currency}).`;
}
