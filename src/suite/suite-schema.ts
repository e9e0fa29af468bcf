import { z } from 'zod';
import { budget, solutionKeys, user } from './case-schema.ts';
import { instant, jsonObject, text, zone } from './values.ts';

/** `suite.yaml`, as people write it. */
export const suiteSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, 'expected a short name of letters, digits, "_", "." and "-"')
    .meta({ description: 'Short name of the suite.' }),
  title: text.meta({ description: 'Title, as reports show it. Default: the name.' }).optional(),
  environment: z
    .union([
      text,
      z.strictObject({
        use: text.meta({ description: 'Name of a built-in environment, or the path of a pack, from this file.' }),
        with: jsonObject.meta({ description: 'Options of the environment. A text that starts with "./" or "../" is a path from this file.' }).optional(),
      }),
    ])
    .meta({ description: 'Name of a built-in environment, or the path of a pack, from this file; or {use, with} with options.' }),
  defaults: z
    .strictObject({
      trials: z.int().min(1).max(10_000).meta({ description: 'Repetitions of each case and agent. Default: 1.' }).optional(),
      agents: z
        .array(text)
        .min(1)
        .meta({ description: 'Agents of the agents folder, "reference", "do-nothing", or paths from this file. Default: [reference].' })
        .optional(),
      faults: z.array(text).min(1).meta({ description: 'Fault schedules of the faults folder by name or glob, "none", or "all". Default: [none].' }).optional(),
    })
    .meta({ description: 'What a run does that does not say otherwise.' })
    .optional(),
  clock: instant.meta({ description: 'Time in the world at the start, with its offset, for cases that name none.' }).optional(),
  timezone: zone.meta({ description: 'Time zone of the world for cases that name none. Default: UTC.' }).optional(),
  budget: budget.meta({ description: 'Limits for cases that name none.' }).optional(),
  user: user.meta({ description: 'Who the agent acts for, in cases that do not say otherwise.' }).optional(),
});

export type SuiteFile = z.output<typeof suiteSchema>;

const common = {
  name: text.meta({ description: 'Name of the agent. Default: the name of the file.' }).optional(),
  version: text.meta({ description: 'Version, as reports show it. Default: 1.' }).optional(),
};

const parameters = jsonObject.meta({ description: 'Passed to the agent as they are; part of what makes it the same agent.' }).optional();
const variableNames = z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable'));
const argument = z.string().refine((arg) => !arg.includes('\0'), 'expected a text without NUL');

/** An agent's file, as people write it. */
export const agentSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('script').meta({ description: 'Plays fixed steps.' }),
    ...solutionKeys,
  }),
  z.strictObject({
    ...common,
    kind: z.literal('module').meta({ description: "A TypeScript or JavaScript file's default export, run in a process of its own." }),
    file: text.meta({ description: 'The file, from this one.' }),
    parameters,
    env: variableNames.meta({ description: "Names of environment variables that the agent's process may see. It sees no others." }).optional(),
    access: z
      .array(z.enum(['inbox', 'tickets', 'sql']))
      .min(1, 'expected at least one service; leave "access" out for none')
      .refine((names) => new Set(names).size === names.length, 'expected each service once')
      .meta({ description: "Services of its world whose address and credentials the agent's process gets, for clients of its own." })
      .optional(),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('command').meta({ description: 'A program of its own, in any language, which acts through the gateway.' }),
    program: argument.min(1).meta({ description: 'A name that is looked up in PATH, or a path, with a "/", from the folder.' }),
    args: z.array(argument).meta({ description: 'Its arguments. It runs in the folder, so paths in them are from there.' }).optional(),
    folder: text
      .meta({ description: 'Folder in which it runs, from this file; all files in it are part of the agent. Default: the folder of this file.' })
      .optional(),
    output: z
      .enum(['text', 'json'])
      .meta({ description: 'What it prints: its answer as a text, or a JSON object with "text" and "data". Default: text.' })
      .optional(),
    parameters,
    env: variableNames
      .meta({ description: 'Names of environment variables that the program may see, beside PATH and those of the gateway. It sees no others.' })
      .optional(),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('do-nothing').meta({ description: 'Answers, and calls nothing.' }),
    answer: z.string().meta({ description: 'Its answer. Default: empty.' }).optional(),
  }),
]);

export type AgentFile = z.output<typeof agentSchema>;
