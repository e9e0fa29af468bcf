import { dirname, resolve } from 'node:path';
import { type AgentSpec, MEMBER_KINDS, type MemberSpec, type TeamMember } from '../domain/agent.ts';
import { problemAt, unknownName } from './issues.ts';
import { isFile } from './places.ts';
import { type FileProblem, SuiteFileError } from './suite.ts';
import type { TeamFile } from './team-schema.ts';
import { type Path, readYaml, type YamlFile } from './yaml-file.ts';

type Team = Extract<AgentSpec, { readonly kind: 'team' }>;

/** Reads the agent of another file. */
export type ReadSpec = (file: string) => Promise<AgentSpec>;

/** The team of a file, with its members' agents. @throws {SuiteFileError} that lists every problem. */
export async function teamOf(source: YamlFile, written: TeamFile, names: Pick<Team, 'name' | 'version'>, read: ReadSpec): Promise<Team> {
  const all = Object.keys(written.members);
  const problems: FileProblem[] = [];
  if (all.length < 2) problems.push(problemAt(source, ['members'], `expected at least two members, found ${all.length}`));
  if (!all.includes(written.start)) problems.push(unknownName(source, ['start'], 'member', written.start, all));
  const members: TeamMember[] = [];
  for (const [name, { agent, does, user = {}, hands_over_to: handsTo }] of Object.entries(written.members)) {
    const at: Path = ['members', name];
    const others = all.filter((other) => other !== name);
    for (const [index, to] of (handsTo ?? []).entries())
      if (!others.includes(to)) problems.push(unknownName(source, [...at, 'hands_over_to', index], 'other member', to, others));
    const spec = await memberSpec(source, [...at, 'agent'], agent, problems, read);
    if (spec) members.push({ name, does, agent: spec, permission: permissionOf(user), handsTo: handsTo ?? others });
  }
  if (problems.length > 0) throw new SuiteFileError(problems);
  return { kind: 'team', ...names, start: written.start, tool: written.tool ?? 'hand_over', members };
}

function permissionOf({ name, role, tools, attributes }: NonNullable<TeamFile['members'][string]['user']>): TeamMember['permission'] {
  return { ...(name !== undefined && { user: name }), ...(role !== undefined && { role }), ...(tools && { tools }), ...(attributes && { attributes }) };
}

/** Null where it is none; the problem is then among the others. */
async function memberSpec(source: YamlFile, at: Path, shown: string, problems: FileProblem[], read: ReadSpec): Promise<TeamMember['agent'] | null> {
  const file = resolve(dirname(source.file), shown);
  const refuse = (message: string): null => {
    problems.push(problemAt(source, at, message));
    return null;
  };
  if (!(await isFile(file))) return refuse(`there is no file ${shown}, looked up from the folder of this file`);
  // Asked before it is read: a team that names itself would have no end.
  const { kind } = (await readYaml(file)).data as { readonly kind?: unknown };
  if (kind === 'team' || kind === 'do-nothing') return refuse(`${EXPECTED}, found ${kind}`);
  const spec = await read(file);
  return isMember(spec) ? spec : refuse(`${EXPECTED}, found ${spec.kind}`);
}

const EXPECTED = `expected an agent of kind ${MEMBER_KINDS.slice(0, -1).join(', ')} or ${MEMBER_KINDS.at(-1) ?? ''}`;

function isMember(spec: AgentSpec): spec is MemberSpec {
  return MEMBER_KINDS.some((kind) => kind === spec.kind);
}
