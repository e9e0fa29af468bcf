import type { AgentSpec } from '../domain/agent.ts';
import { partsOf } from '../domain/agent.ts';
import { resolveEnvironment } from '../environments/load.ts';
import type { EnvironmentSource, LoadedEnvironment } from '../environments/world.ts';
import type { BatchRow, Store } from '../store/store.ts';
import { agentHash } from '../suite/agent-hash.ts';
import { contentHash } from '../suite/identity.ts';

/** Suites that a worker was given: where their packs and agents lie on this machine. */
export interface GivenContent {
  readonly environments: readonly LoadedEnvironment[];
  readonly agents: readonly { readonly hash: string; readonly spec: AgentSpec }[];
}

export const NOTHING_GIVEN: GivenContent = { environments: [], agents: [] };

/** Finds what a batch was made of on this machine by its hash: where it lay when the batch was made, as a built-in environment, or among what the worker was given. */
export class Content {
  private readonly load: (source: EnvironmentSource) => Promise<LoadedEnvironment>;
  private readonly given: GivenContent;

  constructor(load: (source: EnvironmentSource) => Promise<LoadedEnvironment>, given: GivenContent = NOTHING_GIVEN) {
    this.load = load;
    this.given = given;
  }

  /** The environment of a batch; one of another generation where this machine has no other. @throws what loading it throws, where it is nowhere */
  async environment({ name, file, options, generation }: BatchRow['environment']): Promise<LoadedEnvironment> {
    // Whatever its options name lies here too.
    const equal = this.given.environments.find((one) => one.generation === generation);
    if (equal) return equal;
    const given = this.given.environments.filter(({ environment }) => environment.name === name).map(({ source }) => source.file);
    let first: { readonly loaded: LoadedEnvironment } | { readonly error: unknown } | null = null;
    for (const place of new Set([...given, file, ...builtIn(name)])) {
      try {
        const loaded = await this.load({ file: place, options });
        if (loaded.generation === generation) return loaded;
        first = first && 'loaded' in first ? first : { loaded };
      } catch (error) {
        first ??= { error };
      }
    }
    if (first && 'loaded' in first) return first.loaded;
    throw first?.error;
  }

  /** An agent's description with the places of its files on this machine. */
  agent(hash: string, stored: AgentSpec): AgentSpec {
    return this.given.agents.find((agent) => agent.hash === hash)?.spec ?? stored;
  }

  /** Null when the pack and all agents of a batch are here as they were when it was made. */
  async differenceFrom(batch: BatchRow, store: Pick<Store, 'trials' | 'agentDocument'>): Promise<string | null> {
    return this.differenceIn(batch, [...new Set((await store.trials(batch.id)).map((trial) => trial.agentHash))], store);
  }

  /** The same of some of its agents, by their hashes. */
  async differenceIn(batch: BatchRow, agents: readonly string[], store: Pick<Store, 'agentDocument'>): Promise<string | null> {
    const { generation } = await this.environment(batch.environment);
    if (generation !== batch.environment.generation) return 'the environment has changed';
    for (const hash of agents) {
      const agent = await store.agentDocument(hash);
      if (!agent) continue;
      const spec = this.agent(hash, agent.spec);
      if (hasFiles(spec) && (await agentHash(spec)) !== hash) return `agent ${spec.name} has changed`;
    }
    return null;
  }
}

/** Names the files that a batch needs at a worker: its pack, and agents that have some. Equal wherever they lie. */
export function contentOf(generation: string, agents: readonly { readonly hash: string; readonly spec: AgentSpec }[]): string {
  const hashes = agents.filter(({ spec }) => hasFiles(spec)).map(({ hash }) => hash);
  return contentHash({ generation, agents: [...new Set(hashes)].sort() }).slice(0, 12);
}

/** Others are documents of the store as a whole. */
function hasFiles(spec: AgentSpec): boolean {
  return partsOf(spec).some(({ kind }) => kind === 'module' || kind === 'command');
}

function builtIn(name: string): readonly string[] {
  try {
    return [resolveEnvironment(name, '/')];
  } catch {
    return [];
  }
}
