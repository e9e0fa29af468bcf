import { basename } from 'node:path';
import type { AgentSpec } from '../domain/agent.ts';
import { contentHash } from './identity.ts';
import { moduleContents } from './module-contents.ts';

/**
 * Hash of a module agent by what its file and description hold now, wherever they lie. Null when its folder holds more than an agent has.
 *
 * @throws when the file is not there.
 */
export async function moduleAgentHash(spec: Extract<AgentSpec, { kind: 'module' }>): Promise<string | null> {
  const contents = await moduleContents(spec.file);
  return contents === null ? null : contentHash({ ...spec, file: basename(spec.file), contents });
}
