import { z } from 'zod';
import { defineTool } from '../define.ts';
import { given, text } from './arguments.ts';
import { PATTERN_FAILURES, queryByPattern, toPostgresPattern } from './patterns.ts';
import type { Toolkit } from './toolkit.ts';

/** The company directory: every address of the company, one tool to search it. Part of every world. */
export const directory: Toolkit = {
  name: 'company_directory',
  schema: new URL('./schema/directory.sql', import.meta.url),
  files: [{ file: 'email_addresses.csv', table: 'directory', columns: ['address'], headless: true }],
  tools: () => [findEmailAddress],
};

const findEmailAddress = defineTool({
  name: 'company_directory.find_email_address',
  description: 'Finds e-mail addresses of the company by (part of) a name. Returns all that match.',
  input: z.strictObject({ name: text('Name of the person, for example "nadia" or "nadia.moreau".') }),
  result: z.union([z.array(z.string()), z.string()]),
  effect: 'read',
  failures: PATTERN_FAILURES,
  async run({ name }, { db }) {
    if (!given(name)) return 'Name not provided.';
    const pattern = toPostgresPattern(name.toLowerCase());
    const rows = await queryByPattern<{ address: string }>(db, 'select address from directory where address ~ $1 order by position', [pattern]);
    return rows.map((row) => row.address);
  },
});
