import { z } from 'zod';
import { SHOWN_PARTS } from '../domain/rubric.ts';
import { routeSchema } from './route-schema.ts';
import { text } from './values.ts';

const MAX_WORDS = 4_000;

/** `rubrics/NAME.yaml`, as people write it. */
export const rubricSchema = z.strictObject({
  name: text.meta({ description: "The file's name without .yaml; may be left out." }).optional(),
  version: text.max(100).meta({
    description: 'Version of the rubric, in quotes where it looks like a number. A changed rubric needs another one, and begins a new series of judgements.',
  }),
  question: text.max(MAX_WORDS).meta({ description: 'What is asked of each trial.' }),
  scale: z
    .array(
      z.strictObject({
        category: z
          .string()
          .regex(/^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,59}$/u, 'expected a short name of letters, digits, spaces, "_", "." and "-", at most 60')
          .meta({ description: 'Name of the category.' }),
        means: text.max(MAX_WORDS).meta({ description: 'When a trial is of this category.' }),
      }),
    )
    .min(2, 'expected a list of at least 2 categories')
    .max(20)
    .meta({ description: 'The categories, in order, from one end of the scale to the other.' }),
  passes: z.array(text).min(1).meta({ description: 'Categories of a trial that passes; not all of them.' }),
  shows: z
    .array(z.enum(SHOWN_PARTS))
    .min(1)
    .meta({
      description:
        'What a judge is shown of a trial: conversation (all that user and agent said), answer (the last answer alone), operations (calls with arguments and results), effects (rows that changed), mail. Default: [conversation].',
    })
    .optional(),
  calibration: z
    .strictObject({
      labels: z.int().min(10).max(100_000).meta({ description: 'Least number of trials with a label by people. Default: 50.' }).optional(),
      kappa: z.number().gt(0).max(1).meta({ description: "Least agreement with people, by Cohen's kappa. Default: 0.4." }).optional(),
      at: z
        .enum(['lower', 'point'])
        .meta({ description: 'What is held against it: the lower bound of the 95% interval of kappa, or kappa itself. Default: lower.' })
        .optional(),
    })
    .meta({ description: 'When a judge counts as calibrated. No part of what makes it the same rubric.' })
    .optional(),
  model: z
    .union([text, routeSchema])
    .meta({
      description:
        'The way to the model that judges: path of a file, or the route itself. No part of what makes it the same rubric. Default: --model names it.',
    })
    .optional(),
});
