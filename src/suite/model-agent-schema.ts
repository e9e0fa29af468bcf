import { z } from 'zod';
import { budget } from './case-schema.ts';
import { routeSchema } from './route-schema.ts';
import { text } from './values.ts';

/** What agents of every kind are called. */
export const agentNames = {
  name: text.meta({ description: 'Name of the agent. Default: the name of the file.' }).optional(),
  version: text.meta({ description: 'Version, as reports show it. Default: 1.' }).optional(),
};

/** An agent that is a prompt with a model, as people write it. */
export const modelAgentSchema = z.strictObject({
  ...agentNames,
  kind: z.literal('model').meta({ description: 'A prompt with a model, which calls the tools that the case permits.' }),
  route: z.union([text, routeSchema]).meta({ description: 'The way to the model: the path of its file, from this one, or the route itself.' }),
  prompt: z.string().max(200_000).meta({ description: 'Stands before the instructions in the system message. Default: none.' }).optional(),
  output: z
    .enum(['text', 'json'])
    .meta({ description: 'What its last message of a turn is: its answer as a text, or a JSON object with "text" and "data". Default: text.' })
    .optional(),
  budget: budget
    .pick({ steps: true, tokens: true, money: true })
    .meta({ description: "Limits of its own; of these and the case's, the narrowest hold." })
    .optional(),
});
