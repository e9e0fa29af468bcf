import { analytics } from './analytics.ts';
import { calendar } from './calendar.ts';
import { customers } from './customers.ts';
import { directory } from './directory.ts';
import { email } from './email.ts';
import { projectManagement } from './project-management.ts';
import type { Toolkit } from './toolkit.ts';

/** The part that every world has. */
export const DIRECTORY: Toolkit = directory;

/** Parts of the office world that a suite may ask for, by name. */
export const TOOLKITS: { readonly [name: string]: Toolkit } = Object.fromEntries(
  [email, calendar, analytics, projectManagement, customers].map((toolkit) => [toolkit.name, toolkit]),
);

/** Domain whose tasks need all parts. */
export const MULTI_DOMAIN = 'multi_domain';

/** Names that `domains` may hold. */
export const DOMAINS: readonly string[] = [...Object.keys(TOOLKITS), MULTI_DOMAIN];

/** The parts that these domains need, in the order of {@link TOOLKITS}, each once. Names must be known. */
export function toolkitsOf(domains: readonly string[]): readonly Toolkit[] {
  return Object.values(TOOLKITS).filter((toolkit) => domains.includes(toolkit.name) || domains.includes(MULTI_DOMAIN));
}
