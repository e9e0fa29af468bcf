import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { defineEnvironment, EnvironmentDefinitionError, type Environment, type Seed } from '../define.ts';
import { dataProblems } from './data.ts';
import { DIRECTORY, DOMAINS, toolkitsOf } from './domains.ts';
import type { DataFile } from './toolkit.ts';

const NAME = 'workbench';

/**
 * The office world of the WorkBench tasks: mails, calendar, web analytics, task boards, customers and the company directory.
 *
 * Options (a suite's `environment.with`):
 * - `data`: absolute path of the folder with the WorkBench CSV files. They are read where they lie, and are part of the generation.
 * - `domains`: parts of the world to make, of `email`, `calendar`, `analytics`, `project_management`, `customer_relationship_manager`, and
 *   `multi_domain`, which means all. Default: all. The directory is always there.
 * - `compat`: default false. True imitates the published tools where they overwrite a mail that is sent after a deletion, instead of appending it.
 *
 * Cells are text or null as in the files (`user_engaged` is a boolean), and columns have the names of the files, `inbox/outbox` included. The clock of
 * the world never shows: mails are sent at 2023-11-30 00:00:00.
 *
 * @throws {EnvironmentDefinitionError} for unknown options or domains, and when a data file is not there or has other columns.
 */
export default function workbench(options: JsonObject): Environment {
  const { data, domains, compat } = parse(options);
  const toolkits = [DIRECTORY, ...toolkitsOf(domains)];
  const problems = dataProblems(data, toolkits);
  if (problems.length > 0) throw new EnvironmentDefinitionError(NAME, `option data: ${problems.join('; ')}`);
  return defineEnvironment({
    name: NAME,
    version: '1.0.0',
    schema: toolkits.map((toolkit) => toolkit.schema),
    seed: toolkits.flatMap((toolkit) => toolkit.files.map((file) => seedFrom(data, file))),
    tables: Object.fromEntries(toolkits.flatMap((toolkit) => Object.entries(toolkit.comparison ?? {}))),
    tools: toolkits.flatMap((toolkit) => toolkit.tools({ compat })),
    policy: new URL('./policy.md', import.meta.url),
    // As published: no tries of its own, no look-up, nothing to wait with.
    runtime: { timeoutSeconds: 30, retries: null, lookup: null, wait: null, ask: null },
    permissions: { roles: { assistant: { tools: '*' } } },
  });
}

const optionsSchema = z.strictObject({
  data: z.string().min(1),
  domains: z
    .array(z.enum(DOMAINS))
    .min(1)
    .default([...DOMAINS]),
  compat: z.boolean().default(false),
});

function parse(options: JsonObject): z.output<typeof optionsSchema> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) {
    throw new EnvironmentDefinitionError(NAME, parsed.error.issues.map((issue) => `option ${issue.path.join('.') || 'list'}: ${issue.message}`).join('; '));
  }
  if (!isAbsolute(parsed.data.data)) {
    throw new EnvironmentDefinitionError(
      NAME,
      `option data: "${parsed.data.data}" is not absolute; in suite.yaml a path that starts with "./" or "../" is read from the suite's folder`,
    );
  }
  return parsed.data;
}

function seedFrom(folder: string, { file, table, columns, headless }: DataFile): Seed {
  return { csv: join(folder, file), table, ...(headless ? { header: columns } : {}) };
}
