import type { Estimate } from './estimate.ts';
import type { Money } from './model.ts';

/** A run of more than this is to be confirmed. What is absent sets no limit. */
export interface ConfirmAbove {
  readonly trials?: number;
  /** What its models cost nine times in ten, at most. */
  readonly money?: Money;
}

/** `500 trials`, `5.00 USD`, or both with a comma between them; null: the text is no such limit. */
export function parseConfirmAbove(text: string): ConfirmAbove | null {
  let limits: ConfirmAbove = {};
  for (const part of text.split(',')) {
    const [, trials] = /^ *(\d{1,8}) trials? *$/.exec(part) ?? [];
    const [, amount, currency] = /^ *(\d{1,9}(?:\.\d{1,9})?) ?([A-Z]{3}) *$/.exec(part) ?? [];
    if (trials !== undefined && limits.trials === undefined && Number(trials) > 0) limits = { ...limits, trials: Number(trials) };
    else if (amount !== undefined && currency !== undefined && limits.money === undefined && Number(amount) > 0)
      limits = { ...limits, money: { amount: Number(amount), currency } };
    else return null;
  }
  return limits;
}

/** Of two that both hold, the lower. Of money in two currencies the first holds: amounts in two currencies cannot be compared. */
export function stricter(first: ConfirmAbove, second: ConfirmAbove): ConfirmAbove {
  const trials = Math.min(first.trials ?? Number.POSITIVE_INFINITY, second.trials ?? Number.POSITIVE_INFINITY);
  const comparable = first.money?.currency === second.money?.currency;
  const money = first.money && second.money && comparable && second.money.amount < first.money.amount ? second.money : (first.money ?? second.money);
  return { ...(Number.isFinite(trials) && { trials }), ...(money && { money }) };
}

/** Why a run is to be confirmed, a sentence for each; none: it is not. What is not known is not taken to be little. */
export function reasonsToConfirm(estimate: Pick<Estimate, 'trials' | 'cost' | 'unpriced'>, limits: ConfirmAbove): readonly string[] {
  const { trials, money } = limits;
  const reasons: string[] = [];
  if (trials !== undefined && estimate.trials > trials) reasons.push(`${estimate.trials} trials are more than ${trials}`);
  if (money === undefined) return reasons;
  const cost = estimate.cost?.[money.currency];
  if (cost !== undefined && cost.high > money.amount) {
    reasons.push(`models may cost ${amountText(cost.high)} ${money.currency}, which is more than ${amountText(money.amount)} ${money.currency}`);
  }
  const others = Object.keys(estimate.cost ?? {}).filter((currency) => currency !== money.currency);
  if (others.length > 0) reasons.push(`models are paid in ${others.join(' and ')}, which cannot be held against ${amountText(money.amount)} ${money.currency}`);
  if (estimate.unpriced > 0) reasons.push(`what models cost in ${estimate.unpriced} of the trials is not known`);
  return reasons;
}

/** Up to four digits of significance, and cents at least. */
export function amountText(amount: number): string {
  return amount >= 1000 ? amount.toFixed(0) : String(Number(amount.toPrecision(4)));
}
