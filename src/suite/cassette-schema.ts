import { z } from 'zod';
import type { Cassette, NormalisationRule } from '../domain/cassette.ts';
import type { Effect } from '../domain/effect.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { text } from './values.ts';

const kind = z
  .string()
  .regex(/^[a-z][a-z-]{0,30}$/, 'expected a word of small letters, as it stands in the placeholder, such as "name"')
  .meta({ description: 'Word of the placeholder: "name" gives [name-1], [name-2] and so on.' });

/** The key `cassettes` of `suite.yaml`. */
export const suiteCassettes = z
  .strictObject({
    redact: z
      .array(
        z.union([
          z.strictObject({
            field: z
              .string()
              .regex(/^[\w*.-]{1,100}$/, 'expected the name of a field, with "*" for any signs')
              .meta({ description: 'Values of fields of this name are hidden wherever they occur; "*" stands for any signs.' }),
            as: kind,
          }),
          z.strictObject({
            pattern: z
              .string()
              .min(1)
              .max(500)
              .refine(isPattern, 'expected a regular expression')
              .meta({ description: 'What this regular expression matches is hidden.' }),
            as: kind,
          }),
        ]),
      )
      .max(100)
      .meta({ description: 'What recordings must not hold, beside keys, tokens, passwords, mail addresses, card and account numbers.' })
      .optional(),
    normalise: z
      .array(
        z.strictObject({
          tool: text.meta({ description: 'Whose argument; "*": of every tool.' }),
          field: z
            .string()
            .regex(/^[^.[\]\s]+(\[\])?(\.[^.[\]\s]+(\[\])?)*$/, 'expected a path such as filter.name or lines[].sku')
            .meta({ description: 'Path in the arguments; "[]" after a name: each item of the list.' }),
          as: z.enum(['ignore', 'caseless', 'spaces', 'number', 'instant', 'mailbox', 'unordered']).meta({
            description:
              'How it is compared: not at all, without letter case, without extra spaces, by number, by instant, by mailbox, as a list in any order.',
          }),
          reason: z
            .string()
            .trim()
            .min(10, 'expected why that makes no difference to the service')
            .max(500)
            .meta({ description: 'Why that makes no difference.' }),
        }),
      )
      .max(100)
      .meta({ description: 'Arguments that need not be those of the recording to the letter.' })
      .optional(),
  })
  .meta({ description: 'How cassettes of this suite are recorded and compared.' });

/** How a suite's cassettes are recorded and compared. */
export interface SuiteCassettes {
  readonly fields: readonly { readonly field: string; readonly as: string }[];
  readonly patterns: readonly { readonly pattern: string; readonly as: string }[];
  readonly normalise: readonly NormalisationRule[];
}

export function suiteCassettesOf({ redact = [], normalise = [] }: z.output<typeof suiteCassettes>): SuiteCassettes {
  return {
    fields: redact.flatMap((rule) => ('field' in rule ? [rule] : [])),
    patterns: redact.flatMap((rule) => ('pattern' in rule ? [rule] : [])),
    normalise,
  };
}

function isPattern(written: string): boolean {
  try {
    new RegExp(written, 'gu');
    return true;
  } catch {
    return false;
  }
}

const digest = z.string().regex(/^[0-9a-f]{16,64}$/, 'expected a digest');
const judgement = z.enum(['pass', 'fail', 'undetermined']);
const json = z.json() as z.ZodType<Json>;
const object = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;
const problem = z.strictObject({ code: z.string(), message: z.string(), retryAfterSeconds: z.number().optional() });
/** What the journal and the inbox hold is read as it was written. */
const effect = z.looseObject({ kind: z.enum(['row', 'mail']), seq: z.number() }) as unknown as z.ZodType<Effect>;

const called = z.strictObject({ id: z.string(), tool: z.string(), args: z.string() });
const said = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'user']), text: z.string() }),
  z.strictObject({ role: z.literal('assistant'), text: z.string().nullable(), calls: z.array(called).max(1_000) }),
  z.strictObject({ role: z.literal('tool'), call: z.string(), text: z.string() }),
]);
const count = z.number().min(0);
/** What a model replied. */
const models = z.strictObject({
  conversation: z.array(said).max(10_000),
  replies: z
    .array(
      z.strictObject({
        key: z.strictObject({
          route: digest,
          parameters: digest,
          history: digest,
          context: digest,
          tools: digest,
          scope: digest,
          generation: digest,
          world: digest,
        }),
        at: z.int().min(1),
        reported: z.string().nullable(),
        usage: z.strictObject({ input: count, output: count, cached: count.nullable(), reasoning: count.nullable() }).nullable(),
      }),
    )
    .max(2_000),
  inputs: z.record(digest, json),
});

/** A cassette's file. */
export const cassetteSchema = z.strictObject({
  version: z.literal(1),
  case: z.string(),
  variant: z.string(),
  // Nothing was recorded from production; of what a trace tells nothing acts again.
  binding: z.enum(['fixture', 'sandbox', 'trace']),
  recorded: z.strictObject({
    agent: z.string(),
    schedule: z.string(),
    environment: z.string(),
    generation: z.string(),
    start: digest,
    caseHash: digest,
    verdict: z.strictObject({ pass: judgement, outcome: judgement, constraints: judgement, effects: judgement }),
  }),
  scopes: z.record(digest, object),
  schemas: z.record(digest, z.strictObject({ tool: z.string(), input: object })),
  interactions: z
    .array(
      z.strictObject({
        tool: z.string().min(1),
        args: json,
        scope: digest,
        schema: digest,
        told: z.enum(['committed', 'failed', 'unknown']),
        result: json,
        problem: problem.nullable(),
        known: z.enum(['committed', 'failed', 'undetermined']),
        effects: z.array(effect).max(10_000),
      }),
    )
    .max(2_000),
  others: z.array(effect).max(10_000),
  tables: z.record(
    z.string(),
    z.strictObject({
      key: z.array(z.string()),
      ignored: z.array(z.string()),
      scale: z.record(z.string(), z.number()),
      text: z.record(z.string(), z.enum(['exact', 'caseless'])).optional(),
    }),
  ),
  faults: z
    .strictObject({
      rules: z.array(z.looseObject({ index: z.int() })).max(1_000),
      injected: z.array(z.looseObject({ rule: z.int(), kind: z.string(), interaction: z.int().min(1).nullable() })).max(10_000),
    })
    .optional(),
  referenceEffects: z.array(effect).max(10_000).nullable(),
  models: models.optional(),
  draft: z.strictObject({ of: z.string().max(500), effects: z.array(z.int().min(1)).max(2_000) }).optional(),
}) as unknown as z.ZodType<Cassette>;
