import type { Logger } from 'pino';
import type { ServiceAddresses } from '../environments/services.ts';
import type { AgentSpec } from '../domain/agent.ts';
import type { LoadedEnvironment, Worlds } from '../environments/world.ts';
import type { BatchRow, Store } from '../store/store.ts';
import type { ToolServers } from '../tool-server/servers.ts';

/** What activities are built from. Made once by the worker's composition root. */
export interface ActivityServices {
  readonly store: Store;
  readonly worlds: Worlds;
  readonly addresses: ServiceAddresses;
  /** Of worlds whose environment has one. */
  readonly toolServers: ToolServers;
  /** What batches are made of, where this machine has it. */
  readonly content: {
    /** @throws what loading it throws */
    environment(of: BatchRow['environment']): Promise<LoadedEnvironment>;
    /** An agent's description with the places of its files here. */
    agent(hash: string, stored: AgentSpec): AgentSpec;
  };
  readonly log: Logger;
  /** Kills the process where a test armed a failpoint of this name; else does nothing. Each name is the race that it exposes. */
  readonly failpoint: (name: string) => void;
  readonly now: () => Date;
}
