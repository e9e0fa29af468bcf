import { z } from 'zod';
import type { Tool } from './define.ts';
import type { LoadedEnvironment, ToolSchema } from './world.ts';

/** Longest text of a hand-over; in UTF-16 units. */
const MAX_TEXT = 20_000;

/** Who can be handed over to, as a member is told. */
export interface Colleague {
  readonly name: string;
  readonly does: string;
}

/** Arguments of a hand-over. */
export const handOverInput = z.strictObject({ to: z.string(), text: z.string().trim().min(1).max(MAX_TEXT) });

/** An environment as a team meets it: with the tool by which one member gives the conversation to another. */
export function withHandOver(loaded: LoadedEnvironment, name: string, members: readonly Colleague[]): LoadedEnvironment {
  const { environment, toolSchemas } = loaded;
  const tools = [...environment.tools, handOverTool(name, members)];
  return { ...loaded, environment: { ...environment, tools }, toolSchemas: [...toolSchemas, handOverSchema(name, members)] };
}

/** The tool itself, which hands over to these. */
export function handOverTool(name: string, to: readonly Colleague[]): Tool {
  return {
    name,
    description: DESCRIPTION,
    input: handOverInput.extend({ to: z.enum(to.map((member) => member.name)) }),
    result: z.unknown(),
    effect: 'read',
    builtin: 'hand_over',
    run: () => Promise.reject(new Error('a hand-over is carried out by the harness')),
  };
}

/** The tool as a member is told of it who may hand over to these. */
export function handOverSchema(name: string, to: readonly Colleague[]): ToolSchema {
  return {
    name,
    description: `${DESCRIPTION} ${to.map((member) => `${member.name}: ${member.does}`).join(' ')}`,
    inputSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', enum: to.map((member) => member.name), description: 'Who goes on.' },
        text: { type: 'string', minLength: 1, maxLength: MAX_TEXT, description: 'What they have to know. The user does not see it.' },
      },
      required: ['to', 'text'],
      additionalProperties: false,
    },
    effect: 'read',
  };
}

const DESCRIPTION = 'Gives the conversation to a colleague, who acts and answers from then on. Call it last: nothing that you call or say afterwards counts.';
