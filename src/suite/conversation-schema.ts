import { z } from 'zod';
import type { Otherwise, SimulatedUser, UserRule } from '../domain/conversation/simulated-user.ts';
import { USER_WORDS } from '../domain/conversation/user-words.ts';
import type { ModelRoute } from '../domain/model.ts';
import { regularExpression } from './matcher-schema.ts';
import { routeSchema } from './route-schema.ts';
import { text } from './values.ts';

/** The way to the model of a simulated user. */
export const userRoute = z.union([text, routeSchema]).meta({ description: 'The way to the model: the path of its file, from this one, or the route itself.' });

const lines = z.union([text, z.array(text).min(1)]).transform((value): readonly string[] => (typeof value === 'string' ? [value] : value));

const rule = z
  .strictObject({
    topic: z.array(text).min(1).meta({ description: 'Words for what is asked; any of these, at word boundaries.' }).optional(),
    says: z
      .array(z.union([text, z.array(text).min(1)]))
      .min(1)
      .meta({ description: 'Words, numbers or phrases that the agent must have said. An inner list: any one of these.' })
      .optional(),
    not_says: z.array(text).min(1).meta({ description: 'Words, numbers or phrases that it must not have said.' }).optional(),
    matches: regularExpression.meta({ description: 'A regular expression that the message must match, letter case aside.' }).optional(),
    say: lines.meta({ description: 'What the user says: a text, or a list: the first time the first, and so on; the last one from then on.' }).optional(),
    times: z.int().min(1).meta({ description: 'How often the rule answers. Default: always.' }).optional(),
    end: z.literal(true).meta({ description: 'The user leaves after it.' }).optional(),
  })
  .refine(
    ({ topic, says, not_says, matches }) => [topic, says, not_says, matches].some((one) => one !== undefined),
    'expected a condition: "topic", "says", "not_says" or "matches"',
  )
  .refine(({ say, end }) => say !== undefined || end === true, 'expected "say" or "end: true"')
  .transform(
    ({ topic, says, not_says, matches, say, times, end }): UserRule => ({
      ...(topic && { topic }),
      ...((says || not_says) && { text: { ...(says && { says }), ...(not_says && { not_says }) } }),
      ...(matches !== undefined && { matches }),
      say: say ?? [],
      ...(times !== undefined && { times }),
      ...(end && { end }),
    }),
  );

const otherwise = z
  .union([
    lines.transform((say): Otherwise => ({ say })),
    z
      .strictObject({
        say: lines.meta({ description: 'What the user says.' }).optional(),
        end: z.literal(true).meta({ description: 'The user leaves (after it).' }),
      })
      .transform(({ say, end }): Otherwise => ({ say: say ?? [], end })),
    z.strictObject({ fail: z.literal(true).meta({ description: 'The script is strict: the trial ends as user_error.' }) }),
  ])
  .meta({ description: 'What the user does where no rule is met: a text or a list of texts, {say, end: true}, {end: true}, or {fail: true}.' });

/** The simulated user of a case. */
export const conversationSchema = z.discriminatedUnion('user', [
  z.strictObject({
    user: z.literal('script').meta({ description: 'Answers by what is asked.' }),
    rules: z
      .array(rule)
      .max(200)
      .meta({ description: 'What may be asked and what is answered. All that a message meets answer it, in this order.' })
      .optional(),
    otherwise,
  }),
  z.strictObject({
    user: z.literal('model').meta({ description: 'A model that speaks from a brief.' }),
    route: userRoute.optional(),
    persona: z.string().max(20_000).meta({ description: 'Who they are, and how they speak.' }).optional(),
    wants: text.max(20_000).meta({ description: 'What they want of the agent.' }),
    facts: z.array(text).max(200).meta({ description: 'What they know and may tell at any time.' }).optional(),
    if_asked: z.array(text).max(200).meta({ description: 'What they know and tell only when they are asked for it.' }).optional(),
  }),
]);

export type WrittenConversation = z.output<typeof conversationSchema>;

/** `route`: of a model, as it was found. */
export function simulatedUser(written: WrittenConversation, route: ModelRoute | null): SimulatedUser | null {
  if (written.user === 'script') return { ...written, rules: written.rules ?? [] };
  const { persona = '', wants, facts = [], if_asked: ifAsked = [] } = written;
  return route && { user: 'model', route, persona, wants, facts, ifAsked, words: USER_WORDS };
}
