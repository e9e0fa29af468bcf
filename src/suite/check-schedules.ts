import type { FaultRule, FaultService } from '../domain/fault.ts';
import { SERVICE_KINDS } from '../domain/fault.ts';
import type { InboxOptions, TicketsOptions, Tool } from '../environments/define.ts';
import { isLive } from '../environments/live.ts';
import { argumentNames, type CheckedTool } from './check-arguments.ts';
import { changeProblems, type KnownTables } from './check-tables.ts';
import { sourceOfSchedule } from './fault-file.ts';
import { inOrder, problemAt, unknownName } from './issues.ts';
import type { FileProblem, LoadedSchedule, Suite } from './suite.ts';
import { type Path, valueAt, type YamlFile } from './yaml-file.ts';

/** What schedules are held against. A loaded environment is such a thing; tables are known where its database was read. */
export interface ScheduleFacts {
  readonly environment: {
    readonly tools: readonly (CheckedTool & Pick<Tool, 'effect'>)[];
    readonly services?: { readonly inbox?: InboxOptions; readonly tickets?: TicketsOptions };
  };
  readonly tables?: KnownTables;
}

/** Everything in a suite's fault schedules that the environment does not have, or at which a fault could never be injected. Empty for what was not read from a file. */
export function checkSchedules(suite: Pick<Suite, 'schedules'>, facts: ScheduleFacts): readonly FileProblem[] {
  return Object.values(suite.schedules).flatMap((loaded) => scheduleProblems(loaded, facts));
}

/** Services of an environment that a rule can name. */
export function servicesOf({ services }: { readonly services?: { readonly inbox?: unknown; readonly tickets?: unknown } }): readonly FaultService[] {
  return ['database', ...(['inbox', 'tickets'] as const).filter((name) => services?.[name] !== undefined)];
}

function scheduleProblems(loaded: LoadedSchedule, facts: ScheduleFacts): readonly FileProblem[] {
  const source = sourceOfSchedule(loaded);
  if (source === null) return [];
  if (loaded.schedule.rules.length > 0 && isLive(facts.environment)) return [problemAt(source, ['faults'], NO_FAULTS_THERE)];
  return inOrder(loaded.schedule.rules.flatMap((rule, index) => ruleProblems(source, ['faults', index], rule, facts)));
}

const NO_FAULTS_THERE = 'the environment has real services, into which no fault can be injected; leave the schedule out, or bind the services to fixtures';

function ruleProblems(source: YamlFile, at: Path, rule: FaultRule, facts: ScheduleFacts): readonly FileProblem[] {
  const { fault } = rule;
  const changes = 'changes' in fault && facts.tables !== undefined ? changeProblems(source, [...at, 'changes'], fault.changes, facts.tables) : [];
  return [...targetProblems(source, at, rule, facts.environment), ...changes];
}

function targetProblems(source: YamlFile, at: Path, rule: FaultRule, environment: ScheduleFacts['environment']): readonly FileProblem[] {
  const { on } = rule;
  if (on === 'start') return [];
  if ('service' in on) {
    const known = servicesOf(environment);
    return known.includes(on.service) ? [] : [unknownName(source, [...at, 'on', 'service'], 'service of the environment', on.service, known)];
  }
  const tool = environment.tools.find(({ name }) => name === on.tool);
  if (tool !== undefined) return toolRuleProblems(source, at, rule, tool, environment);
  const alone = typeof valueAt(source, [...at, 'on']) === 'string';
  const names = [...environment.tools.map(({ name }) => name), ...(alone ? ['start'] : [])];
  return [unknownName(source, alone ? [...at, 'on'] : [...at, 'on', 'tool'], 'tool', on.tool, names)];
}

function toolRuleProblems(
  source: YamlFile,
  at: Path,
  { fault, where = {} }: FaultRule,
  tool: ScheduleFacts['environment']['tools'][number],
  environment: ScheduleFacts['environment'],
): readonly FileProblem[] {
  const problems: FileProblem[] = [];
  if (tool.builtin === 'ask')
    return [problemAt(source, [...at, 'on'], `${tool.name} asks the simulated user, who is no system that can fail; hit another tool`)];
  const known = argumentNames(tool);
  const unknown = (path: Path, name: string) => {
    if (known !== null && !known.includes(name)) problems.push(unknownName(source, path, `argument of ${tool.name}`, name, known));
  };
  for (const name of Object.keys(where)) unknown([...at, 'where', name], name);
  if (fault.kind === 'duplicate_delivery' && tool.effect === 'read') {
    problems.push(
      problemAt(source, [...at, 'fault'], `${tool.name} reads only, so a second arrival of its request changes nothing; hit a tool that writes or sends`),
    );
  }
  if (SERVICE_KINDS.has(fault.kind) && (tool.effect !== 'external' || environment.services?.inbox === undefined)) {
    const senders = environment.tools.filter(({ effect }) => effect === 'external').map(({ name }) => name);
    const may =
      environment.services?.inbox === undefined
        ? 'the environment has no inbox'
        : `expected {service: inbox}, or a tool that may send: ${senders.join(', ') || 'none'}`;
    problems.push(problemAt(source, [...at, 'on'], `${fault.kind} is of mail, and ${tool.name} sends none; ${may}`));
  }
  if (fault.kind === 'schema_changed') {
    for (const name of Object.keys(fault.rename)) unknown([...at, 'rename', name], name);
    for (const [index, name] of fault.remove.entries()) unknown([...at, 'remove', index], name);
    for (const [name, now] of Object.entries(fault.rename)) {
      const taken = known?.includes(now) === true && !Object.hasOwn(fault.rename, now) && !fault.remove.includes(now);
      if (taken) problems.push(problemAt(source, [...at, 'rename', name], `${tool.name} has an argument "${now}" already; choose another name`));
    }
  }
  return problems;
}
