import { z } from 'zod';
import type { ProductionRuntime } from '../domain/runtime.ts';
import { DEFAULT_RUNTIME } from '../domain/runtime.ts';
import type { EnvironmentDefinition, Tool } from './define.ts';

/** Longest wait of one call, in seconds of the world's clock: 31 days. */
export const MAX_WAIT_SECONDS = 31 * 24 * 3600;

/** What production is like for a pack, with what holds where it declares nothing. */
export function runtimeOf({ runtime }: Pick<EnvironmentDefinition, 'runtime'>): ProductionRuntime {
  return { ...DEFAULT_RUNTIME, ...runtime };
}

/** The tools that production itself has beside the pack's: a look-up of operations, a wait. The harness carries them out; any role may call them. */
export function runtimeTools(definition: Pick<EnvironmentDefinition, 'runtime'>): readonly Tool[] {
  const { lookup, wait } = runtimeOf(definition);
  return [...(lookup === null ? [] : [lookupTool(lookup)]), ...(wait === null ? [] : [waitTool(wait)])];
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

function lookupTool(name: string): Tool {
  return {
    name,
    description: 'Tells how an earlier operation ended: committed, failed (it had no effect), or in_progress. Use it where the outcome of a call is unknown.',
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

function notHere(): Promise<never> {
  return Promise.reject(new Error('a tool of the production runtime is carried out by the harness'));
}
