import { z } from 'zod';
import type { Columns, EffectPattern, Matcher, TextRule } from '../domain/case.ts';
import { nearestName } from '../domain/text/nearest.ts';
import { json, text } from './values.ts';

/** What a text must and must not say. */
export const textRule = z
  .strictObject({
    says: z
      .array(z.union([text, z.array(text).min(1)]))
      .min(1)
      .meta({ description: 'Words, numbers or phrases that must be there, found at their boundaries, capital letters aside. An inner list: any one of these.' })
      .optional(),
    not_says: z.array(text).min(1).meta({ description: 'Words, numbers or phrases that must not be there.' }).optional(),
  })
  .meta({ description: 'What the text must and must not say.' })
  .refine((rule) => rule.says !== undefined || rule.not_says !== undefined, 'expected "says" or "not_says"')
  .transform((rule) => rule as TextRule);

/** A pattern that can be read, with flag `u`. */
export const regularExpression = z.string().superRefine((pattern, context) => {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    context.addIssue({ code: 'custom', message: `expected a regular expression: ${error instanceof Error ? error.message : String(error)}` });
  }
});

const bound = z.union([z.number(), z.string()]);

const operators = {
  any: z.strictObject({ any: z.literal(true) }),
  one_of: z.strictObject({ one_of: z.array(json).min(1) }),
  not: z.strictObject({ not: json }),
  range: z.strictObject({ gte: bound.optional(), lte: bound.optional(), gt: bound.optional(), lt: bound.optional() }),
  matches: z.strictObject({ matches: regularExpression }),
};

const OPERATOR_OF: { readonly [key: string]: z.ZodType } = {
  any: operators.any,
  one_of: operators.one_of,
  not: operators.not,
  gte: operators.range,
  lte: operators.range,
  gt: operators.range,
  lt: operators.range,
  matches: operators.matches,
  says: textRule,
  not_says: textRule,
};

/** A value, which means equal to it, or one of the operators. An object without a key of an operator is a value as well. */
export const matcher = z
  .unknown()
  .superRefine((value, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const keys = Object.keys(value);
    const operator = keys.find((key) => Object.hasOwn(OPERATOR_OF, key));
    if (operator === undefined) {
      const near = keys.length === 1 ? nearOperator(keys[0] ?? '') : null;
      if (near !== null) context.addIssue({ code: 'unrecognized_keys', keys, input: { ...value }, message: JSON.stringify(Object.keys(OPERATOR_OF)) });
      return;
    }
    const parsed = OPERATOR_OF[operator]?.safeParse(value, { reportInput: true });
    for (const issue of parsed?.error?.issues ?? []) {
      const known = issue.code === 'unrecognized_keys' ? { message: JSON.stringify(Object.keys(OPERATOR_OF)) } : {};
      context.addIssue({ ...issue, ...known, input: issue.input } as Parameters<typeof context.addIssue>[0]);
    }
  })
  .transform((value) => value as Matcher)
  .meta({
    description:
      'A value means: equal to it, after normalisation. Or an operator: {any: true}, {one_of: [...]}, {not: x}, {gte, lte, gt, lt}, {matches: regex}, {says: [...], not_says: [...]}.',
  });

/** Columns and what their values must be. */
export const columns = z.record(z.string(), matcher).transform((value) => value as Columns);

/** How many of something. */
export const count = z
  .union([
    z.int().min(0),
    z
      .strictObject({
        min: z.int().min(0).meta({ description: 'At least so many.' }).optional(),
        max: z.int().min(0).meta({ description: 'At most so many.' }).optional(),
      })
      .refine(({ min, max }) => min !== undefined || max !== undefined, 'expected "min" or "max"'),
  ])
  .meta({ description: 'How many; a number, or {min, max}. Default: exactly 1.' });

const rowPattern = z.strictObject({
  row: text.meta({ description: 'Table whose row changes.' }),
  change: z.enum(['insert', 'update', 'delete']).meta({ description: 'What happens to the row.' }),
  where: columns.meta({ description: 'Columns of the row after the change (before it, for a delete). Columns that are not named are free.' }).optional(),
  before: columns.meta({ description: 'Columns of the row before the change.' }).optional(),
  only: z.array(text).meta({ description: 'For an update: the only columns that may differ. Default: those in "where".' }).optional(),
  count: count.optional(),
});

const mailPattern = z.strictObject({
  mail: z.array(text).min(1).meta({ description: 'The exact set of envelope recipients.' }),
  from: text.meta({ description: 'Envelope sender.' }).optional(),
  subject: matcher.meta({ description: 'Subject: a text means equal to it; or an operator such as {says: [...]}.' }).optional(),
  body: textRule.meta({ description: 'What the body must and must not say.' }).optional(),
  count: count.optional(),
});

/** One effect in a system of record: a row that changes, or a mail that is accepted. */
export const effectPattern = z.union([rowPattern, mailPattern]).transform((value) => value as EffectPattern);

/** Short names such as `not` are too near to too much; only longer ones are taken for a slip. */
function nearOperator(key: string): string | null {
  const near = nearestName(
    key,
    Object.keys(OPERATOR_OF).filter((name) => name.length >= 4),
  );
  return near !== null && key.length >= 4 ? near : null;
}
