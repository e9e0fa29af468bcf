import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { writeOneCaseSuite } from './one-case-suite.ts';

/** Members by name: each with its agent, and what else the team's file says of it. */
export interface WrittenMembers {
  readonly [member: string]: readonly [agent: JsonObject, more?: JsonObject];
}

/** Writes a suite of one case with a team; the first member starts unless `start` names another. */
export async function writeTeamSuite(
  folder: string,
  name: string,
  parts: { readonly environment: Json; readonly members: WrittenMembers; readonly kase?: JsonObject; readonly start?: string },
): Promise<{ readonly suite: string; readonly agents: readonly [string] }> {
  const { environment, members, kase = {}, start = Object.keys(members)[0] ?? '' } = parts;
  const place = join(folder, name);
  await mkdir(place, { recursive: true });
  for (const [member, [agent]] of Object.entries(members)) await writeFile(join(place, `${member}.yaml`), stringify({ name: member, ...agent }));
  const written = Object.entries(members).map(([member, [, more = {}]]) => [member, { agent: `${member}.yaml`, does: `It is ${member}.`, ...more }]);
  return writeOneCaseSuite(folder, name, { environment, agent: { kind: 'team', start, members: Object.fromEntries(written) }, kase });
}
