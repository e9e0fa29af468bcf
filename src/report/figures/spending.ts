import { quantile } from '../../domain/statistics/quantiles.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';

/** How much trials of one agent took. */
export interface AgentSpending {
  readonly agent: string;
  /** All attempts of a trial together, failed ones included. */
  readonly tokensIn: Distribution;
  readonly tokensOut: Distribution;
  /** By currency; all attempts together. */
  readonly money: { readonly [currency: string]: Distribution };
  /** Of the attempt that counts, milliseconds: from begin to end, the agent's own, its calls, and the rest, which is ours. */
  readonly wallMs: Distribution;
  readonly agentMs: Distribution;
  readonly toolMs: Distribution;
  readonly waitMs: Distribution;
  readonly calls: Distribution;
  /** Attempts beside the one that counts. */
  readonly extraAttempts: number;
}

/** Of what was measured. */
export interface Distribution {
  readonly n: number;
  /** Trials for which it was not measured. */
  readonly unmeasured: number;
  readonly sum: number;
  /** Null: nothing was measured. */
  readonly mean: number | null;
  readonly min: number | null;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** Of trials that have ended, by agent. */
export function spendingOf(facts: readonly TrialFacts[]): readonly AgentSpending[] {
  const ended = facts.filter(({ ending }) => ending !== null);
  return [...Map.groupBy(ended, ({ agent }) => agent)].map(([agent, trials]) => {
    const of = (value: (one: TrialFacts) => number | null | undefined): Distribution => distribution(trials.map(value));
    const currencies = [...new Set(trials.flatMap(({ money }) => Object.keys(money ?? {})))].sort();
    return {
      agent,
      tokensIn: of(({ tokens }) => tokens?.input),
      tokensOut: of(({ tokens }) => tokens?.output),
      money: Object.fromEntries(currencies.map((currency) => [currency, of(({ money }) => money?.[currency])])),
      wallMs: of(({ times }) => times?.wallMs),
      agentMs: of(({ times }) => times?.agentMs),
      toolMs: of(({ times }) => times?.toolMs),
      waitMs: of(({ times }) => times?.waitMs),
      calls: of(({ calls }) => calls),
      extraAttempts: trials.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0),
    };
  });
}

/** Quantiles between two values in proportion. */
export function distribution(values: readonly (number | null | undefined)[]): Distribution {
  const sorted = values.flatMap((value) => value ?? []).sort((a, b) => a - b);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    n: sorted.length,
    unmeasured: values.length - sorted.length,
    sum,
    mean: sorted.length === 0 ? null : sum / sorted.length,
    min: sorted[0] ?? null,
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    p99: quantile(sorted, 0.99),
    max: sorted.at(-1) ?? null,
  };
}
