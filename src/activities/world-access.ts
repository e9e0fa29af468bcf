import { ApplicationFailure } from '@temporalio/common';
import type { ServiceAccess } from '../domain/agent.ts';
import type { AgentServices } from '../environments/agent.ts';
import type { Environment } from '../environments/define.ts';
import type { ServiceAddresses } from '../environments/services.ts';
import type { World } from '../environments/world.ts';

/**
 * Addresses and credentials of a world's services that an agent's description asks for; of services that its environment has. They pass to the agent alone.
 *
 * @throws {ApplicationFailure} `AccessNeedsDatabase`, `AccessNeedsFixture`
 */
export async function worldAccess(
  addresses: ServiceAddresses,
  { services }: Pick<Environment, 'services'>,
  world: Pick<World, 'credentials' | 'live'>,
  access: readonly ServiceAccess[],
): Promise<AgentServices> {
  if (access.length === 0) return {};
  const { user, agentSecret, sqlUrl } = await world.credentials();
  if (access.includes('sql') && sqlUrl === null) {
    const message = 'an agent with SQL of its own needs a world with a database of its own: run with --isolation database or container';
    throw ApplicationFailure.nonRetryable(message, 'AccessNeedsDatabase');
  }
  if (world.live) {
    const message = "an agent with access of its own needs fixtures: what it did past the tools at a real service could not be told from the tools' own doing";
    throw ApplicationFailure.nonRetryable(message, 'AccessNeedsFixture');
  }
  const { smtp, tickets } = addresses;
  return {
    ...(access.includes('inbox') && services?.inbox && { inbox: { ...smtp, user, password: agentSecret } }),
    ...(access.includes('tickets') && services?.tickets && { tickets: { url: tickets, headers: { authorization: `Bearer ${user}.${agentSecret}` } } }),
    ...(access.includes('sql') && sqlUrl !== null && { sql: { url: sqlUrl } }),
  };
}

/** The same as variables of a program's environment. */
export function accessVariables({ inbox, tickets, sql }: AgentServices): { readonly [name: string]: string } {
  return {
    ...(sql && { TRIALBED_SQL_URL: sql.url }),
    ...(inbox && {
      TRIALBED_SMTP_HOST: inbox.host,
      TRIALBED_SMTP_PORT: String(inbox.port),
      TRIALBED_SMTP_USER: inbox.user,
      TRIALBED_SMTP_PASSWORD: inbox.password,
    }),
    ...(tickets && { TRIALBED_TICKETS_URL: tickets.url, TRIALBED_TICKETS_TOKEN: (tickets.headers['authorization'] ?? '').replace(/^Bearer /, '') }),
  };
}
