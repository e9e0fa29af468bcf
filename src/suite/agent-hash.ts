import { basename, dirname } from 'node:path';
import type { AgentSpec } from '../domain/agent.ts';
import { agentContents } from './agent-contents.ts';
import { contentHash } from './identity.ts';

/**
 * Hash of an agent by what its description and files hold now, wherever they lie. Null when its folder holds more than an agent has.
 *
 * @throws when its files are not there.
 */
export async function agentHash(spec: AgentSpec): Promise<string | null> {
  switch (spec.kind) {
    case 'module': {
      const contents = await agentContents(dirname(spec.file));
      return contents === null ? null : contentHash({ ...spec, file: basename(spec.file), contents });
    }
    case 'command': {
      const { folder, ...rest } = spec;
      const contents = await agentContents(folder);
      return contents === null ? null : contentHash({ ...rest, contents });
    }
    case 'team': {
      const hashes = await Promise.all(spec.members.map(({ agent }) => agentHash(agent)));
      return hashes.includes(null) ? null : contentHash({ ...spec, members: spec.members.map((member, index) => ({ ...member, agent: hashes[index] })) });
    }
    default:
      return contentHash(spec);
  }
}
