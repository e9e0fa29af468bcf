import type { Case, Constraint, EffectPattern } from '../domain/case.ts';
import { sourceOfAgent } from './agent-file.ts';
import { sourceOf } from './case-file.ts';
import { argumentNames, type CheckedTool } from './check-arguments.ts';
import { stepProblems, toolProblems } from './check-steps.ts';
import { inOrder, unknownName } from './issues.ts';
import type { FileProblem, LoadedAgent, LoadedCase, Suite } from './suite.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** What cases and agents are held against. A loaded environment is such a thing; tables are known where its database was read. */
export interface EnvironmentFacts {
  readonly environment: { readonly tools: readonly CheckedTool[]; readonly permissions?: { readonly roles: { readonly [role: string]: unknown } } };
  /** Columns by table. */
  readonly tables?: { readonly [table: string]: readonly string[] };
}

/**
 * Everything in the suite's cases that the environment does not have or take: tools in permissions, constraints and the reference's steps, arguments
 * there, roles, and tables and columns where they are known.
 * Empty for a case that was not read from a file.
 */
export function checkAgainst(suite: Pick<Suite, 'cases'>, facts: EnvironmentFacts): readonly FileProblem[] {
  return suite.cases.flatMap((loaded) => checkCase(loaded, facts));
}

/** The same of an agent, if it is a script: its steps. */
export function checkAgentAgainst(agent: LoadedAgent, facts: EnvironmentFacts): readonly FileProblem[] {
  const source = sourceOfAgent(agent);
  if (source === null || agent.spec.kind !== 'script') return [];
  return inOrder(stepProblems(source, ['steps'], agent.spec.solution.steps, facts.environment.tools));
}

function checkCase(loaded: LoadedCase, facts: EnvironmentFacts): readonly FileProblem[] {
  const source = sourceOf(loaded);
  if (source === null) return [];
  const { kase } = loaded;
  return inOrder([
    ...checkPermission(source, kase, facts),
    ...checkConstraints(source, kase, facts),
    ...stepProblems(source, ['reference', 'steps'], kase.reference.steps, facts.environment.tools),
    ...checkTables(source, kase, facts),
  ]);
}

function checkPermission(source: YamlFile, { permission }: Case, facts: EnvironmentFacts): readonly FileProblem[] {
  const roles = facts.environment.permissions?.roles;
  const role =
    roles === undefined || Object.hasOwn(roles, permission.role) ? [] : [unknownName(source, ['user', 'role'], 'role', permission.role, Object.keys(roles))];
  return [...role, ...permission.tools.flatMap((tool, index) => toolProblems(source, ['user', 'tools', index], tool, facts.environment.tools))];
}

function checkConstraints(source: YamlFile, { expect }: Case, facts: EnvironmentFacts): readonly FileProblem[] {
  return expect.constraints.flatMap((constraint, index) =>
    toolsOf(constraint).flatMap(([key, tool]) => {
      const at: Path = ['expect', 'constraints', index];
      const where = 'where' in constraint && key !== 'before' ? checkArguments(source, [...at, 'where'], tool, Object.keys(constraint.where ?? {}), facts) : [];
      return [...toolProblems(source, [...at, key], tool, facts.environment.tools), ...where];
    }),
  );
}

function toolsOf(constraint: Constraint): readonly (readonly [string, string])[] {
  const keys = ['tool', 'never', 'before', 'must_call'] as const;
  const entries = Object.entries(constraint) as [string, unknown][];
  return entries.flatMap(([key, value]) => (keys.some((known) => known === key) && typeof value === 'string' ? [[key, value] as const] : []));
}

/** Only of tools whose schema lists its arguments. */
function checkArguments(source: YamlFile, at: Path, name: string, names: readonly string[], facts: EnvironmentFacts): readonly FileProblem[] {
  const tool = facts.environment.tools.find((candidate) => candidate.name === name);
  const known = tool === undefined ? null : argumentNames(tool);
  return known === null ? [] : names.filter((one) => !known.includes(one)).map((one) => unknownName(source, [...at, one], `argument of ${name}`, one, known));
}

function checkTables(source: YamlFile, kase: Case, facts: EnvironmentFacts): readonly FileProblem[] {
  const { tables } = facts;
  if (tables === undefined) return [];
  const check = (at: Path, tableKey: string, table: string, columns: readonly (readonly [Path, string])[]): readonly FileProblem[] => {
    const known = Object.hasOwn(tables, table) ? tables[table] : undefined;
    if (known === undefined) return [unknownName(source, [...at, tableKey], 'table', table, Object.keys(tables))];
    return columns
      .filter(([, column]) => !known.includes(column))
      .map(([path, column]) => unknownName(source, [...at, ...path], `column of ${table}`, column, known));
  };
  const state = kase.state.flatMap((change, index) => {
    const at: Path = ['state', index];
    if ('insert' in change)
      return check(
        at,
        'insert',
        change.insert,
        change.rows.flatMap((row, n) => keysAt(['rows', n], row)),
      );
    if ('update' in change) return check(at, 'update', change.update, [...keysAt(['where'], change.where), ...keysAt(['set'], change.set)]);
    return check(at, 'delete', change.delete, keysAt(['where'], change.where));
  });
  const effects = patternsOf(kase).flatMap(([at, pattern]) => {
    if (!('row' in pattern)) return [];
    const only = (pattern.only ?? []).map((column, index) => [['only', index] as Path, column] as const);
    return check(at, 'row', pattern.row, [...keysAt(['where'], pattern.where ?? {}), ...keysAt(['before'], pattern.before ?? {}), ...only]);
  });
  return [...state, ...effects];
}

function keysAt(at: Path, columns: object): readonly (readonly [Path, string])[] {
  return Object.keys(columns).map((column) => [[...at, column], column] as const);
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
