import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { defineEnvironment, EnvironmentDefinitionError, type Environment } from '../define.ts';
import { dataProblems, FILES, RetailDataError } from './data.ts';
import { READ_TOOLS } from './read-tools.ts';
import { readWording, worded } from './wording.ts';
import { WRITE_TOOLS } from './write-tools.ts';

const NAME = 'retail';

/**
 * The shop of the tau-bench retail tasks: 500 users, 1,000 orders, 50 products, and 16 tools.
 *
 * Options (a suite's `environment.with`):
 * - `data`: absolute path of the folder with `users.json`, `orders.json`, `products.json`, `policy.md` and `tool_schemas_retail.json`. They are read where they lie, and
 *   are part of the generation. The agent is told the policy, and the tools in the words of the schemas.
 *
 * Results are text, as in the original: a bare value, or JSON with the members in the order of the files. Money is exact: sums are of whole cents, and no float dust is
 * left. What the shop refuses (`Error: ...`) is a failure of the operation, not a result: it is known to have changed nothing, and the message is the original's text.
 * The policy is text; no tool asks who is calling.
 *
 * @throws {EnvironmentDefinitionError} for unknown options, and when a data file is missing.
 */
export default function retail(options: JsonObject): Environment {
  const { data } = parse(options);
  const wording = wordingOf(data);
  return defineEnvironment({
    name: NAME,
    version: '1.0.0',
    schema: [new URL('./schema.sql', import.meta.url)],
    seed: [
      { json: join(data, FILES.users), table: 'users', key: 'user_id' },
      { json: join(data, FILES.products), table: 'products', key: 'product_id' },
      { json: join(data, FILES.orders), table: 'orders', key: 'order_id' },
    ],
    tables: { orders: { scale: { exchange_price_difference: 2 } } },
    tools: [...READ_TOOLS, ...WRITE_TOOLS].map((tool) => worded(tool, wording.get(tool.name))),
    policy: join(data, FILES.policy),
    // As published: no tries of its own, no look-up, nothing to wait with; the agent asks by what it says.
    runtime: { timeoutSeconds: 30, retries: null, lookup: null, wait: null, ask: null },
    permissions: { roles: { agent: { tools: '*' } } },
  });
}

const optionsSchema = z.strictObject({ data: z.string().min(1) });

function parse(options: JsonObject): z.output<typeof optionsSchema> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) {
    throw new EnvironmentDefinitionError(NAME, parsed.error.issues.map((issue) => `option ${issue.path.join('.') || 'list'}: ${issue.message}`).join('; '));
  }
  const { data } = parsed.data;
  if (!isAbsolute(data)) {
    throw new EnvironmentDefinitionError(
      NAME,
      `option data: "${data}" is not absolute; in suite.yaml a path that starts with "./" or "../" is read from the suite's folder`,
    );
  }
  const problems = dataProblems(data);
  if (problems.length > 0) throw new EnvironmentDefinitionError(NAME, `option data: ${problems.join('; ')}`);
  return parsed.data;
}

function wordingOf(data: string): ReturnType<typeof readWording> {
  try {
    return readWording(data);
  } catch (error) {
    if (error instanceof RetailDataError) throw new EnvironmentDefinitionError(NAME, `option data: ${error.message}`);
    throw error;
  }
}
