import type pg from 'pg';
import { openPool, withDatabase } from '../hosts/connection.ts';
import type { Host } from '../hosts/host.ts';

/** Connections to the database of a world. */
export interface Access {
  /** The administrator, in the world's database. */
  readonly admin: pg.Pool;
  /** Ends sessions that a connection of `admin` waits for. */
  readonly control: pg.Pool;
  /** The tool role, for operations. */
  readonly tools: pg.Pool;
  /** The tool role, for the services. Beside `tools`, because an operation may wait for a service while it holds a connection. */
  readonly services: pg.Pool;
  close(): Promise<void>;
}

/** An operation that takes longer has hung: a tool's own time-out is shorter. */
const STATEMENT_MS = 300_000;
const IDLE_IN_TRANSACTION_MS = 600_000;

/** Shares of a host's connections: half for tools, a quarter each for services and for the administrator, two for control. */
export function shares(connections: number): { readonly tools: number; readonly services: number; readonly admin: number; readonly control: number } {
  const rest = Math.max(6, connections - 2);
  const quarter = Math.max(2, Math.floor(rest / 4));
  return { tools: Math.max(2, rest - 2 * quarter), services: quarter, admin: quarter, control: 2 };
}

/** Connections to the database that all worlds of isolation `schema` of a host share. */
export function sharedAccess(host: Host, database: string, connections: number): Access {
  const { tools, services } = shares(connections);
  return makeAccess(host.adminUrl, host.tool, database, { tools, services }, { admin: host.admin, control: host.control });
}

/** A few connections to a database of one world; they close when idle. Without `control`, it has one of its own: a server of its own cannot be reached from another. */
export function ownAccess(adminUrl: string, tool: Host['tool'], database: string, control: pg.Pool | null): Access {
  const url = withDatabase(adminUrl, database);
  const admin = openPool({ url, max: 2, name: 'trialbed admin', idleMs: 1000 });
  const ownControl = control === null ? openPool({ url, max: 1, name: 'trialbed control', idleMs: 1000 }) : null;
  const owned = [admin, ...(ownControl ? [ownControl] : [])];
  return makeAccess(adminUrl, tool, database, { tools: 2, services: 2, idleMs: 1000 }, { admin, control: control ?? ownControl ?? admin, owned });
}

function makeAccess(
  adminUrl: string,
  tool: Host['tool'],
  database: string,
  sizes: { readonly tools: number; readonly services: number; readonly idleMs?: number },
  shared: { readonly admin: pg.Pool; readonly control: pg.Pool; readonly owned?: readonly pg.Pool[] },
): Access {
  const url = withDatabase(adminUrl, database, tool);
  const common = {
    url,
    statementTimeoutMs: STATEMENT_MS,
    idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
    ...(sizes.idleMs === undefined ? {} : { idleMs: sizes.idleMs }),
  };
  const tools = openPool({ ...common, max: sizes.tools, name: 'trialbed tools' });
  const services = openPool({ ...common, max: sizes.services, name: 'trialbed services' });
  return {
    admin: shared.admin,
    control: shared.control,
    tools,
    services,
    close: async () => {
      await Promise.all([tools, services, ...(shared.owned ?? [])].map((pool) => pool.end()));
    },
  };
}
