import type { JsonObject } from './json.ts';

/** A way to a model: where it is, how it is asked, and what it costs. Holds no secret: the key is named by its variable. */
export interface ModelRoute {
  /** As records and reports show it. */
  readonly name: string;
  /** Format of its requests. */
  readonly api: 'openai' | 'anthropic';
  /** Base URL, without a slash at the end; `/chat/completions` (`/v1/messages` for `anthropic`) is added. */
  readonly url: string;
  /** The model by the provider's name. */
  readonly model: string;
  /** Name of the variable that holds the key; null: it takes none. */
  readonly key: string | null;
  /** Sent with each request as they are: `temperature`, `max_tokens` and the like. */
  readonly parameters: JsonObject;
  /** Asked for with each request. Never a promise of the same output. */
  readonly seed: number | null;
  /** Null: what it costs is not measured. */
  readonly prices: ModelPrices | null;
  /** For one try, milliseconds. */
  readonly timeoutMs: number;
  /** Tries after the first where the provider is limited, broken, or silent. */
  readonly retries: number;
  /** What one worker sends at most; null: no limit. */
  readonly rate: { readonly perMinute: number | null; readonly atOnce: number | null };
}

/** For one million tokens. */
export interface ModelPrices {
  /** ISO 4217, for example `USD`. */
  readonly currency: string;
  readonly input: number;
  readonly output: number;
  /** Of input tokens that the provider had in its cache; absent: as other input. */
  readonly cached?: number;
}

/** Tokens of one call, as the provider reported them. */
export interface ModelUsage {
  /** Of the request, cached ones included. */
  readonly input: number;
  /** Of the reply, reasoning included. */
  readonly output: number;
  /** Of the input, those from the provider's cache; null: not reported. */
  readonly cached: number | null;
  /** Of the output, those of reasoning that is not shown; null: not reported. */
  readonly reasoning: number | null;
}

export interface Money {
  readonly amount: number;
  readonly currency: string;
}

/** One call of a model as it was recorded. Holds no message. */
export interface ModelCall {
  /** Unique within its attempt. */
  readonly id: string;
  /** On whose behalf: the agent, or the simulated user. */
  readonly who: 'agent' | 'user';
  /** Which agent of several; null: the trial's only one. */
  readonly agent: string | null;
  /** Made by us for an agent of kind `model` or a simulated user (`loop`), passed through the gateway, or told by a span. */
  readonly source: 'loop' | 'gateway' | 'otlp';
  /** Name of the route. */
  readonly route: string;
  /** Base URL of the provider; null: not known. */
  readonly url: string | null;
  /** The model that was asked for. */
  readonly model: string;
  /** Version that the provider reported; null: none. */
  readonly reported: string | null;
  readonly parameters: JsonObject;
  /** As it was asked for. */
  readonly seed: number | null;
  /** Null: not reported. */
  readonly usage: ModelUsage | null;
  /** Null: not measured. */
  readonly price: Money | null;
  /** Of the try that was replied to, milliseconds; null: none was. */
  readonly latencyMs: number | null;
  /** Tries, the last one included. */
  readonly tries: number;
  readonly end: 'replied' | 'refused' | 'failed';
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** ISO 8601, when it ended. */
  readonly at: string;
}

/** What the model calls of one side of an attempt came to. */
export interface ModelTotals {
  readonly calls: number;
  /** Of these, those that no try got a reply to. */
  readonly unanswered: number;
  /** Null: no call reported any. */
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number; readonly reasoning: number } | null;
  /** By currency; null: not measured. */
  readonly cost: { readonly [currency: string]: number } | null;
  /** Calls whose tokens are not known, and calls whose price is not: the sums leave them out. */
  readonly unmeasured: { readonly tokens: number; readonly cost: number };
  /** Of the tries that were replied to, milliseconds. */
  readonly latencyMs: number;
  /** Tries that got no reply, which the agent has nothing to do with. */
  readonly failedTries: number;
  /** Versions that providers reported, sorted. */
  readonly versions: readonly string[];
}

/** What a call costs by its route's prices; null where tokens or prices are not known. */
export function priceOf(usage: ModelUsage | null, prices: ModelPrices | null): Money | null {
  if (usage === null || prices === null) return null;
  const cached = Math.min(usage.cached ?? 0, usage.input);
  const millionths = (usage.input - cached) * prices.input + cached * (prices.cached ?? prices.input) + usage.output * prices.output;
  return { amount: exact(millionths / 1_000_000), currency: prices.currency };
}

/** Sums of calls; null where there were none: what was not measured is never 0. */
export function totalsOf(calls: readonly ModelCall[]): ModelTotals | null {
  if (calls.length === 0) return null;
  // A try that the provider never answered took no tokens that anybody counts.
  const replied = calls.filter(({ end }) => end === 'replied');
  const counted = replied.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const priced = replied.flatMap(({ price }) => (price === null ? [] : [price]));
  const sum = (part: (usage: ModelUsage) => number) => counted.reduce((total, usage) => total + part(usage), 0);
  return {
    calls: calls.length,
    unanswered: calls.length - replied.length,
    tokens:
      counted.length === 0
        ? null
        : {
            input: sum(({ input }) => input),
            output: sum(({ output }) => output),
            cached: sum(({ cached }) => cached ?? 0),
            reasoning: sum(({ reasoning }) => reasoning ?? 0),
          },
    cost: priced.length === 0 ? null : addUp(priced),
    unmeasured: { tokens: replied.length - counted.length, cost: replied.length - priced.length },
    latencyMs: Math.round(replied.reduce((total, { latencyMs }) => total + (latencyMs ?? 0), 0)),
    failedTries: calls.reduce((total, { tries, end }) => total + tries - (end === 'replied' ? 1 : 0), 0),
    versions: [...new Set(replied.flatMap(({ reported }) => (reported === null ? [] : [reported])))].sort(),
  };
}

/** Sums by currency. */
export function addUp(amounts: readonly Money[]): { readonly [currency: string]: number } {
  const sums: Record<string, number> = {};
  for (const { amount, currency } of amounts) sums[currency] = exact((sums[currency] ?? 0) + amount);
  return sums;
}

/** Without what binary fractions add: a budget is met exactly, not nearly. */
function exact(amount: number): number {
  return Number(amount.toFixed(12));
}
