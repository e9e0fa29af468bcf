import type { AgentSpec } from '../domain/agent.ts';
import type { Case, Constraint, EffectPattern } from '../domain/case.ts';
import { handOverTool } from '../environments/team-tool.ts';
import { sourceOfAgent } from './agent-file.ts';
import { sourceOf } from './case-file.ts';
import { argumentNames, type CheckedTool } from './check-arguments.ts';
import { stepProblems, toolProblems } from './check-steps.ts';
import { servicesOf } from './check-schedules.ts';
import { changeProblems, columnsAt, type KnownTables, tableProblems } from './check-tables.ts';
import { inOrder, problemAt, unknownName } from './issues.ts';
import type { FileProblem, LoadedAgent, LoadedCase, Suite } from './suite.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** What cases and agents are held against. A loaded environment is such a thing; tables are known where its database was read. */
export interface EnvironmentFacts {
  readonly environment: {
    readonly tools: readonly CheckedTool[];
    readonly permissions?: { readonly roles: { readonly [role: string]: unknown } };
    readonly services?: { readonly inbox?: unknown; readonly tickets?: unknown };
  };
  readonly tables?: KnownTables;
}

/**
 * Everything in the suite's cases that the environment does not have or take: tools in permissions, constraints and the reference's steps, arguments
 * there, roles, and tables and columns where they are known.
 * Empty for a case that was not read from a file.
 */
export function checkAgainst(suite: Pick<Suite, 'cases'>, facts: EnvironmentFacts): readonly FileProblem[] {
  return suite.cases.flatMap((loaded) => checkCase(loaded, facts));
}

/** The same of an agent: of a script its steps, of a team its members' permissions and scripts. */
export function checkAgentAgainst(agent: LoadedAgent, facts: EnvironmentFacts): readonly FileProblem[] {
  const source = sourceOfAgent(agent);
  if (source !== null && agent.spec.kind === 'team') return [...inOrder(teamProblems(source, agent.spec, facts)), ...memberProblems(agent.spec, facts)];
  if (source === null || agent.spec.kind !== 'script') return [];
  return inOrder(stepProblems(source, ['steps'], agent.spec.solution.steps, facts.environment.tools));
}

function teamProblems(source: YamlFile, team: Extract<AgentSpec, { kind: 'team' }>, { environment }: EnvironmentFacts): readonly FileProblem[] {
  const roles = environment.permissions?.roles;
  const taken = environment.tools.some(({ name }) => name === team.tool);
  return [
    ...(taken ? [problemAt(source, ['tool'], `the environment has a tool ${team.tool} already; give the team's another name`)] : []),
    ...team.members.flatMap(({ name, permission: { role, tools = [] } }) => {
      const at: Path = ['members', name, 'user'];
      const unknown =
        role === undefined || roles === undefined || Object.hasOwn(roles, role) ? [] : [unknownName(source, [...at, 'role'], 'role', role, Object.keys(roles))];
      return [...unknown, ...tools.flatMap((tool, index) => toolProblems(source, [...at, 'tools', index], tool, environment.tools))];
    }),
  ];
}

/** Steps of members that are scripts, who have the team's tool as well. */
function memberProblems(team: Extract<AgentSpec, { kind: 'team' }>, { environment }: EnvironmentFacts): readonly FileProblem[] {
  return team.members.flatMap(({ agent, handsTo }) => {
    const source = sourceOfAgent({ spec: agent });
    if (source === null || agent.kind !== 'script') return [];
    const colleagues = team.members.filter(({ name }) => handsTo.includes(name));
    const own = colleagues.length === 0 ? [] : [handOverTool(team.tool, colleagues)];
    return inOrder(stepProblems(source, ['steps'], agent.solution.steps, [...environment.tools, ...own]));
  });
}

function checkCase(loaded: LoadedCase, facts: EnvironmentFacts): readonly FileProblem[] {
  const source = sourceOf(loaded);
  if (source === null) return [];
  const { kase } = loaded;
  return inOrder([
    ...checkPermission(source, kase, facts),
    ...checkConstraints(source, kase, facts),
    ...stepProblems(source, ['reference', 'steps'], kase.reference.steps, facts.environment.tools),
    ...askProblems(source, kase, facts),
    ...checkTables(source, kase, facts),
  ]);
}

/** Questions of a reference where nobody is there to answer. */
function askProblems(source: YamlFile, kase: Case, { environment }: EnvironmentFacts): readonly FileProblem[] {
  const ask = environment.tools.find(({ builtin }) => builtin === 'ask')?.name;
  if (kase.conversation || ask === undefined) return [];
  return kase.reference.steps.flatMap((step, index) =>
    'call' in step && step.call === ask && step.invalid !== true
      ? [problemAt(source, ['reference', 'steps', index, 'call'], `nobody answers ${ask} in this case; give it a simulated user with "conversation"`)]
      : [],
  );
}

function checkPermission(source: YamlFile, { permission }: Case, facts: EnvironmentFacts): readonly FileProblem[] {
  const roles = facts.environment.permissions?.roles;
  const role =
    roles === undefined || Object.hasOwn(roles, permission.role) ? [] : [unknownName(source, ['user', 'role'], 'role', permission.role, Object.keys(roles))];
  return [...role, ...permission.tools.flatMap((tool, index) => toolProblems(source, ['user', 'tools', index], tool, facts.environment.tools))];
}

function checkConstraints(source: YamlFile, { expect }: Case, facts: EnvironmentFacts): readonly FileProblem[] {
  return expect.constraints.flatMap((constraint, index) => {
    const at: Path = ['expect', 'constraints', index];
    const ofTools = toolsOf(constraint).flatMap(([key, tool]) => {
      const where = 'where' in constraint && key !== 'before' ? checkArguments(source, [...at, 'where'], tool, Object.keys(constraint.where ?? {}), facts) : [];
      return [...toolProblems(source, [...at, key], tool, facts.environment.tools), ...where];
    });
    return [...faultTargetProblems(source, at, constraint, facts), ...ofTools];
  });
}

/** What a rule of fallbacks waits for: a fault in a tool, or in a service of the environment. */
function faultTargetProblems(source: YamlFile, at: Path, constraint: Constraint, { environment }: EnvironmentFacts): readonly FileProblem[] {
  if (!('after_fault' in constraint)) return [];
  const known = [...environment.tools.map(({ name }) => name), ...servicesOf(environment)];
  return known.includes(constraint.after_fault) ? [] : [unknownName(source, [...at, 'after_fault'], 'tool or service', constraint.after_fault, known)];
}

function toolsOf(constraint: Constraint): readonly (readonly [string, string])[] {
  const keys = ['tool', 'never', 'before', 'must_call', 'must_ask_approval', 'look_before_repeat'] as const;
  const entries = Object.entries(constraint) as [string, unknown][];
  return entries.flatMap(([key, value]) => (keys.some((known) => known === key) && typeof value === 'string' && value !== '*' ? [[key, value] as const] : []));
}

/** Only of tools whose schema lists its arguments. */
function checkArguments(source: YamlFile, at: Path, name: string, names: readonly string[], facts: EnvironmentFacts): readonly FileProblem[] {
  const tool = facts.environment.tools.find((candidate) => candidate.name === name);
  const known = tool === undefined ? null : argumentNames(tool);
  return known === null ? [] : names.filter((one) => !known.includes(one)).map((one) => unknownName(source, [...at, one], `argument of ${name}`, one, known));
}

function checkTables(source: YamlFile, kase: Case, { tables }: EnvironmentFacts): readonly FileProblem[] {
  if (tables === undefined) return [];
  const effects = patternsOf(kase).flatMap(([at, pattern]) => {
    if (!('row' in pattern)) return [];
    const only = (pattern.only ?? []).map((column, index) => [['only', index] as Path, column] as const);
    const columns = [...columnsAt(['where'], pattern.where ?? {}), ...columnsAt(['before'], pattern.before ?? {}), ...only];
    return tableProblems(source, at, 'row', pattern.row, columns, tables);
  });
  return [...changeProblems(source, ['state'], kase.state, tables), ...effects];
}

function patternsOf({ expect }: Case): readonly (readonly [Path, EffectPattern])[] {
  return [
    ...expect.outcomes.flatMap((outcome, index) =>
      'effects' in outcome ? outcome.effects.map((pattern, n) => [['expect', 'outcomes', index, 'effects', n] as Path, pattern] as const) : [],
    ),
    ...expect.allowed.map((pattern, index) => [['expect', 'allowed', index] as Path, pattern] as const),
    ...expect.forbidden.map(({ effect }, index) => [['expect', 'forbidden', index, 'effect'] as Path, effect] as const),
    ...expect.claims.flatMap((claim, index) =>
      'effect' in claim && claim.effect ? [[['expect', 'claims', index, 'effect'] as Path, claim.effect] as const] : [],
    ),
  ];
}
