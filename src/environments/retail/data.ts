import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearestName } from '../../domain/text/nearest.ts';

/** The files of which a world is made. */
export const FILES = { users: 'users.json', orders: 'orders.json', products: 'products.json', policy: 'policy.md', tools: 'tool_schemas_retail.json' } as const;

/** The data folder is not what that of the retail shop is. Lists every problem found; nothing was written. */
export class RetailDataError extends Error {
  override readonly name = 'RetailDataError';
  readonly code = 'retail_data';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** What keeps a world from being made of the folder; empty when nothing does. */
export function dataProblems(folder: string): readonly string[] {
  if (!existsSync(folder)) return [`folder ${folder} does not exist; name the folder that holds the data of the retail shop`];
  return Object.values(FILES).flatMap((file) => missing(folder, file));
}

/**
 * A JSON file of the folder.
 * @throws {RetailDataError} when it is missing, or no JSON.
 */
export function readJson(folder: string, file: string): unknown {
  const problems = missing(folder, file);
  if (problems.length > 0) throw new RetailDataError(problems);
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8'));
  } catch (error) {
    throw new RetailDataError([`${join(folder, file)} is not JSON: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function missing(folder: string, file: string): readonly string[] {
  const path = join(folder, file);
  if (existsSync(path)) return [];
  if (!existsSync(folder)) return [`folder ${folder} does not exist; name the folder that holds the data of the retail shop`];
  const near = nearestName(file, readdirSync(folder));
  return [`${path} does not exist${near === null ? '; name the folder that holds the data of the retail shop' : ` (there is ${join(folder, near)})`}`];
}
