import { partsOf } from '../domain/agent.ts';
import type { Money } from '../domain/model.ts';
import type { LoadedAgent } from '../suite/suite.ts';
import type { BatchOptions } from '../store/store.ts';

/** An agent asks for what its worlds do not have. */
export class AgentAccessError extends Error {
  override readonly name = 'AgentAccessError';
  readonly code = 'agent_access';
  readonly agent: string;

  constructor(agent: string, message: string) {
    super(message);
    this.agent = agent;
  }
}

/**
 * Holds what agents ask for against the worlds that they will get: SQL of one's own needs a database of one's own, since what PostgreSQL has no privilege for
 * (LISTEN, advisory locks) reaches every schema of a database.
 *
 * @throws {AgentAccessError}
 */
export function requireAccess(agents: readonly LoadedAgent[], isolation: BatchOptions['isolation']): void {
  for (const spec of agents.flatMap((agent) => partsOf(agent.spec))) {
    if (isolation === 'schema' && 'access' in spec && spec.access?.includes('sql')) {
      throw new AgentAccessError(spec.name, `agent ${spec.name} has SQL of its own (access: sql), which needs --isolation database or container`);
    }
  }
}

/**
 * Holds the money of a batch against the prices of its agents' routes: a limit in a currency in which nothing is counted would never be met.
 *
 * @throws {AgentAccessError}
 */
export function requirePrices(agents: readonly LoadedAgent[], limit: Money | null): void {
  if (limit === null) return;
  for (const spec of agents.flatMap((agent) => partsOf(agent.spec))) {
    const routes = spec.kind === 'model' ? [spec.route] : 'routes' in spec ? (spec.routes ?? []) : [];
    const route = routes.find(({ prices }) => prices?.currency !== limit.currency);
    if (route !== undefined)
      throw new AgentAccessError(
        spec.name,
        `a limit of ${limit.amount} ${limit.currency} cannot be kept: route ${route.name} of agent ${spec.name} has no prices in ${limit.currency}`,
      );
  }
}
