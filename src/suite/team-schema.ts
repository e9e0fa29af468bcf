import { z } from 'zod';
import { user } from './case-schema.ts';
import { agentNames } from './model-agent-schema.ts';
import { text } from './values.ts';

const memberName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/, 'expected a short name of letters, digits, "_" and "-"');

const member = z.strictObject({
  agent: text.meta({ description: 'Its agent file, from this one: of kind model, module, command, http or script.' }),
  does: text.meta({ description: 'What it is for, as the others are told.' }),
  user: user
    .omit({ approval: true })
    .meta({ description: 'Its own permissions. What is not named is as the case has it; a call needs the permission of both.' })
    .optional(),
  hands_over_to: z.array(text).meta({ description: 'Members to whom it may hand over. Default: all others.' }).optional(),
});

/** An agent of kind `team`, as people write it. */
export const teamAgentSchema = z.strictObject({
  ...agentNames,
  kind: z.literal('team').meta({ description: 'Several agents in one trial, who hand over to each other.' }),
  start: text.meta({ description: 'The member to whom the user speaks first.' }),
  tool: z
    .string()
    .regex(/^[a-zA-Z][a-zA-Z0-9_.-]{0,127}$/, 'expected the name of a tool')
    .meta({ description: 'Name of the tool by which a member hands over. Default: hand_over.' })
    .optional(),
  members: z.record(memberName, member).meta({ description: 'The agents by name.' }),
});

export type TeamFile = z.output<typeof teamAgentSchema>;
