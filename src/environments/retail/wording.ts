import { z } from 'zod';
import type { Tool } from '../define.ts';
import { FILES, readJson, RetailDataError } from './data.ts';

/** How the original describes a tool and its arguments to an agent. */
export interface Wording {
  readonly description: string;
  readonly arguments: { readonly [name: string]: string };
}

/**
 * Descriptions by tool, from the folder's tool schemas.
 * @throws {RetailDataError} when the file is no list of function schemas.
 */
export function readWording(folder: string): ReadonlyMap<string, Wording> {
  const parsed = schemas.safeParse(readJson(folder, FILES.tools));
  if (!parsed.success) throw new RetailDataError([`${FILES.tools} is no list of function schemas: ${z.prettifyError(parsed.error)}`]);
  return new Map(
    parsed.data.map(({ function: { name, description, parameters } }) => [
      name,
      { description, arguments: Object.fromEntries(Object.entries(parameters.properties).map(([argument, schema]) => [argument, schema.description])) },
    ]),
  );
}

/** The tool in these words; its own where the original has none. */
export function worded(tool: Tool, wording: Wording | undefined): Tool {
  if (wording === undefined || !(tool.input instanceof z.ZodObject)) return tool;
  const shape = Object.entries(tool.input.shape as { readonly [name: string]: z.ZodType }).map(([name, schema]) => {
    const words = Object.hasOwn(wording.arguments, name) ? wording.arguments[name] : undefined;
    return [name, words === undefined ? schema : schema.describe(words)] as const;
  });
  return { ...tool, description: wording.description, input: z.strictObject(Object.fromEntries(shape)) };
}

const schemas = z.array(
  z.object({
    function: z.object({
      name: z.string(),
      description: z.string(),
      parameters: z.object({ properties: z.record(z.string(), z.object({ description: z.string().default('') })).default({}) }),
    }),
  }),
);
