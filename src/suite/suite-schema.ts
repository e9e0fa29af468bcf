import { z } from 'zod';
import type { ServiceAccess } from '../domain/agent.ts';
import { approver, budget, solutionKeys, user } from './case-schema.ts';
import { suiteCassettes } from './cassette-schema.ts';
import { userRoute } from './conversation-schema.ts';
import { agentNames, modelAgentSchema } from './model-agent-schema.ts';
import { teamAgentSchema } from './team-schema.ts';
import { routeSchema } from './route-schema.ts';
import { duration, gate, instant, jsonObject, money, text, zone } from './values.ts';

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
      gates: z
        .array(gate)
        .min(1)
        .max(50)
        .meta({ description: "What a batch has to reach, such as ['pass>=0.9', 'forbidden==0']. Default: ['pass>=1']." })
        .optional(),
      max_cost: money.meta({ description: 'No trial is launched once the models of a batch have cost so much. Default: no limit.' }).optional(),
      confirm_above: z
        .strictObject({
          trials: z.int().min(1).max(10_000_000).meta({ description: 'Trials. Default: any number.' }).optional(),
          money: money.meta({ description: 'What its models are likely to cost. Default: any amount.' }).optional(),
        })
        .meta({ description: 'A run of more than this asks before it begins, or needs --yes.' })
        .optional(),
      addresses: z
        .enum(['keep', 'mask'])
        .meta({ description: 'What records of conversations with models do with mail addresses: keep them, or hide the mailbox. Default: keep.' })
        .optional(),
      unverified_approvals: z
        .enum(['count', 'refuse'])
        .meta({ description: 'Whether plain signals, whose sender nobody knows, decide what needs an approval where people decide (--human). Default: count.' })
        .optional(),
    })
    .meta({ description: 'What a run does that does not say otherwise.' })
    .optional(),
  clock: instant.meta({ description: 'Time in the world at the start, with its offset, for cases that name none.' }).optional(),
  timezone: zone.meta({ description: 'Time zone of the world for cases that name none. Default: UTC.' }).optional(),
  budget: budget.meta({ description: 'Limits for cases that name none.' }).optional(),
  user: user.meta({ description: 'Who the agent acts for, in cases that do not say otherwise.' }).optional(),
  user_model: userRoute
    .meta({ description: 'The way to the model that speaks as the user, for cases whose simulated user is a model and names none.' })
    .optional(),
  approver: approver.meta({ description: 'Who decides what needs an approval, in cases that do not say otherwise.' }).optional(),
  cassettes: suiteCassettes.optional(),
});

export type SuiteFile = z.output<typeof suiteSchema>;

const parameters = jsonObject.meta({ description: 'Passed to the agent as they are; part of what makes it the same agent.' }).optional();
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable');
const variableNames = z.array(variableName);
const SERVICES = ['inbox', 'tickets', 'sql'] as const satisfies readonly ServiceAccess[];
/** What the protocol between us and the server needs. */
const OUR_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const access = z
  .union([
    z.literal('direct'),
    z
      .array(z.enum(SERVICES))
      .min(1, 'expected at least one service; leave "access" out for none')
      .refine((names) => new Set(names).size === names.length, 'expected each service once'),
  ])
  .transform((names): readonly ServiceAccess[] => [...(names === 'direct' ? SERVICES : names)].sort())
  .meta({ description: 'Services of its world whose address and credentials the agent gets, for clients of its own; "direct": all three.' })
  .optional();
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const oneRoute = z.union([text, routeSchema]);
const route = z
  .union([oneRoute, z.array(oneRoute).min(1).max(20)])
  .transform((written) => (Array.isArray(written) ? written : [written]))
  .meta({
    description: 'Models that it may ask through the gateway: the path of a route file, from this file, a route itself, or a list of these. Default: none.',
  })
  .optional();
const providerVariables = z
  .boolean()
  .meta({
    description:
      'Set OPENAI_BASE_URL and OPENAI_API_KEY, ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, as libraries of providers read them, to the gateway and its token. Default: false.',
  })
  .optional();
const argument = z.string().refine((arg) => !arg.includes('\0'), 'expected a text without NUL');

/** An agent's file, as people write it. */
export const agentSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...agentNames,
    kind: z.literal('script').meta({ description: 'Plays fixed steps.' }),
    ...solutionKeys,
  }),
  z.strictObject({
    ...agentNames,
    kind: z.literal('module').meta({ description: "A TypeScript or JavaScript file's default export, run in a process of its own." }),
    file: text.meta({ description: 'The file, from this one.' }),
    parameters,
    env: variableNames.meta({ description: "Names of environment variables that the agent's process may see. It sees no others." }).optional(),
    access,
    route,
    provider_variables: providerVariables,
  }),
  z.strictObject({
    ...agentNames,
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
    access,
    route,
    provider_variables: providerVariables,
  }),
  z.strictObject({
    ...agentNames,
    kind: z.literal('http').meta({ description: 'A server of its own, which is sent each turn of the conversation and acts through the gateway.' }),
    url: z
      .url({ protocol: /^https?$/, error: 'expected an address such as https://agents.example.org/trials' })
      .refine((url) => !hasCredentials(url), 'expected an address without user and password; name a variable in "headers" instead')
      .meta({ description: 'Where each turn is posted to.' }),
    headers: z
      .record(z.string(), variableName)
      .superRefine((headers, context) => {
        for (const name of Object.keys(headers)) {
          if (!HEADER_NAME.test(name)) context.addIssue({ code: 'custom', path: [name], message: 'expected the name of a header' });
          else if (OUR_HEADERS.has(name.toLowerCase()))
            context.addIssue({ code: 'custom', path: [name], message: 'expected a header that the test bed does not set itself' });
        }
      })
      .meta({ description: 'Headers of every request to it: each with the name of the environment variable that holds its value.' })
      .optional(),
    output: z.enum(['text', 'json']).meta({ description: 'What it answers: a text, or a JSON object with "text" and "data". Default: text.' }).optional(),
    timeouts: z
      .strictObject({
        connect: duration.meta({ description: 'For a connection to its server. Default: 10s.' }).optional(),
        answer: duration.meta({ description: 'For the answer to one request. Default: as long as its own time lasts.' }).optional(),
        poll: duration.meta({ description: 'Between two questions whether its answer is there, where it does not say. Default: 1s.' }).optional(),
      })
      .meta({ description: 'Limits of time.' })
      .optional(),
    parameters,
    access,
    route,
  }),
  modelAgentSchema,
  teamAgentSchema,
  z.strictObject({
    ...agentNames,
    kind: z.literal('do-nothing').meta({ description: 'Answers, and calls nothing.' }),
    answer: z.string().meta({ description: 'Its answer. Default: empty.' }).optional(),
  }),
]);

export type AgentFile = z.output<typeof agentSchema>;

function hasCredentials(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== '' || url.password !== '');
}
