import { z } from 'zod';
import type { Case } from '../domain/case.ts';
import type { ProductionRuntime } from '../domain/runtime.ts';
import { DEFAULT_RUNTIME } from '../domain/runtime.ts';
import type { EnvironmentDefinition, Tool } from './define.ts';
import type { LoadedEnvironment } from './world.ts';

/** Longest wait of one call, in seconds of the world's clock: 31 days. */
export const MAX_WAIT_SECONDS = 31 * 24 * 3600;

/** What production is like for a pack, with what holds where it declares nothing. */
export function runtimeOf({ runtime }: Pick<EnvironmentDefinition, 'runtime'>): ProductionRuntime {
  return { ...DEFAULT_RUNTIME, ...runtime };
}

/**
 * The tools that production itself has beside the pack's: a look-up of operations, a wait, a question to the user. The harness carries them out; any role may call them.
 * A pack that has a tool `ask_user` of its own keeps it.
 */
export function runtimeTools(definition: Pick<EnvironmentDefinition, 'runtime' | 'tools'>): readonly Tool[] {
  const { lookup, wait, ask } = runtimeOf(definition);
  const own = definition.runtime?.ask === undefined && definition.tools.some(({ name }) => name === ask);
  return [...(lookup === null ? [] : [lookupTool(lookup)]), ...(wait === null ? [] : [waitTool(wait)]), ...(!ask || own ? [] : [askTool(ask)])];
}

/** An environment as a case offers it: without the question to the user where nobody is there to answer. */
export function offeredBy(loaded: LoadedEnvironment, kase: Pick<Case, 'conversation'>): LoadedEnvironment {
  const asks = kase.conversation ? [] : loaded.environment.tools.filter(({ builtin }) => builtin === 'ask').map(({ name }) => name);
  if (asks.length === 0) return loaded;
  const kept = <T extends { readonly name: string }>(tools: readonly T[]) => tools.filter(({ name }) => !asks.includes(name));
  const { environment, toolSchemas } = loaded;
  return { ...loaded, environment: { ...environment, tools: kept(environment.tools) }, toolSchemas: kept(toolSchemas) };
}

/** Arguments of the look-up. */
export const lookupInput = z.strictObject({
  operation: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/, 'expected the id of an operation')
    .describe('Id of the operation, as the call gave it.'),
});

/** Arguments of the wait. */
export const waitInput = z
  .strictObject({
    seconds: z.number().positive().max(MAX_WAIT_SECONDS).describe('How long to wait.').optional(),
    until: z.iso.datetime({ offset: true }).describe('Until when to wait, with its offset.').optional(),
  })
  .refine((wait) => (wait.seconds === undefined) !== (wait.until === undefined), 'expected seconds or until, and not both');

/** Longest question; in UTF-16 units. */
const MAX_QUESTION_LENGTH = 100_000;

/** Arguments of the question. */
export const askInput = z.strictObject({
  question: z.string().min(1).max(MAX_QUESTION_LENGTH).describe('What to ask, as the user is to read it.'),
});

function lookupTool(name: string): Tool {
  return {
    name,
    description:
      'Tells how an earlier operation ended: committed, failed or denied (it had no effect), awaiting_approval or in_progress. Use it where the outcome of a call is unknown, or it awaits an approval.',
    input: lookupInput,
    result: z.unknown(),
    effect: 'read',
    failures: ['not_found'],
    builtin: 'lookup',
    run: notHere,
  };
}

function waitTool(name: string): Tool {
  return {
    name,
    description: 'Waits, for so many seconds or until a time, and tells what time it is then.',
    input: waitInput,
    result: z.unknown(),
    effect: 'read',
    failures: ['too_long'],
    builtin: 'wait',
    run: notHere,
  };
}

function askTool(name: string): Tool {
  return {
    name,
    description: 'Asks the user a question and gives their answer.',
    input: askInput,
    result: z.unknown(),
    effect: 'read',
    failures: ['user_left'],
    builtin: 'ask',
    run: notHere,
  };
}

function notHere(): Promise<never> {
  return Promise.reject(new Error('a tool of the production runtime is carried out by the harness'));
}
