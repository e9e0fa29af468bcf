import { z } from 'zod';
import type { ModelRoute } from '../domain/model.ts';
import { duration, jsonObject, text } from './values.ts';

/** Keys of a request that the route, the agent and the harness decide on. */
const OURS = ['model', 'messages', 'tools', 'system', 'stream', 'seed', 'n'] as const;

const amount = z.number().min(0);

/** A way to a model, as people write it: a file of its own, or a part of another. */
export const routeSchema = z
  .strictObject({
    name: text.max(100).meta({ description: 'Name, as records and reports show it. Default: the model.' }).optional(),
    api: z.enum(['openai', 'anthropic']).meta({ description: 'Format of its requests. Default: openai.' }).optional(),
    url: z
      .string()
      .superRefine((value, context) => {
        const message = urlProblem(value);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .meta({ description: 'Base URL, such as https://api.example.com/v1; "/chat/completions" is added, or "/v1/messages" for anthropic.' }),
    model: text.meta({ description: "The model, by the provider's name." }),
    key: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable, never the key itself')
      .meta({ description: 'Name of the environment variable that holds the key, where the worker runs. Default: it takes none.' })
      .optional(),
    parameters: jsonObject
      .superRefine((value, context) => {
        for (const name of OURS)
          if (Object.hasOwn(value, name))
            context.addIssue({ code: 'custom', path: [name], message: `"${name}" is no parameter: ${REASONS[name] ?? 'it is set for each request'}` });
      })
      .meta({ description: 'Sent with each request as they are, such as temperature and max_tokens.' })
      .optional(),
    seed: z.int().meta({ description: 'Asked for with each request; never a promise of the same output.' }).optional(),
    prices: z
      .strictObject({
        currency: z
          .string()
          .regex(/^[A-Z]{3}$/, 'expected a currency such as USD or EUR')
          .meta({ description: 'Currency by its three letters. Default: USD.' })
          .optional(),
        input: amount.meta({ description: 'For a million input tokens.' }),
        output: amount.meta({ description: 'For a million output tokens.' }),
        cached: amount.meta({ description: "For a million input tokens from the provider's cache. Default: as other input." }).optional(),
      })
      .meta({ description: 'Prices for a million tokens. Default: cost is not measured.' })
      .optional(),
    timeout: duration
      .refine((ms) => ms <= 10 * 60_000, 'expected at most 10m')
      .meta({ description: 'Time for one try, such as 90s; at most 10m. Default: 2m.' })
      .optional(),
    retries: z.int().min(0).max(20).meta({ description: 'Tries after the first, where the provider is limited, broken or silent. Default: 6.' }).optional(),
    rate: z
      .strictObject({
        per_minute: z.number().gt(0).max(100_000).meta({ description: 'Requests a minute, evenly spaced.' }).optional(),
        at_once: z.int().min(1).max(1000).meta({ description: 'Requests at once.' }).optional(),
      })
      .meta({ description: 'What one worker sends at most. Default: no limit.' })
      .optional(),
  })
  .transform(({ name, api = 'openai', url, model, key, parameters, seed, prices, timeout, retries, rate }): ModelRoute => {
    return {
      name: name ?? model,
      api,
      url: url.replace(/\/+$/, ''),
      model,
      key: key ?? null,
      parameters: parameters ?? {},
      seed: seed ?? null,
      prices: prices
        ? { currency: prices.currency ?? 'USD', input: prices.input, output: prices.output, ...(prices.cached !== undefined && { cached: prices.cached }) }
        : null,
      timeoutMs: timeout ?? 120_000,
      retries: retries ?? 6,
      rate: { perMinute: rate?.per_minute ?? null, atOnce: rate?.at_once ?? null },
    };
  });

const REASONS: { readonly [name: string]: string } = {
  model: 'give it beside "url"',
  seed: 'give it beside "url"',
  stream: 'replies are read as a whole',
  n: 'one reply is read',
};

function urlProblem(value: string): string | null {
  if (!URL.canParse(value)) return `expected a URL such as https://api.example.com/v1, found ${JSON.stringify(value.slice(0, 80))}`;
  const { protocol, username, password, search, hash } = new URL(value);
  if (protocol !== 'https:' && protocol !== 'http:') return 'expected a URL with https or http';
  if (username !== '' || password !== '') return 'a URL with a password would stand in records; name the variable of the key under "key"';
  return search !== '' || hash !== '' ? 'expected a URL without "?" and "#"' : null;
}
