import type { AgentSpec } from '../../domain/agent.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import { isScored } from '../../domain/standing.ts';

/** A case that one agent passes at times and at times not. */
export interface MixedCase {
  readonly case: string;
  readonly agent: string;
  /** Null: it is mixed over the schedules, and under each of them always the same. */
  readonly schedule: string | null;
  readonly passed: number;
  readonly scored: number;
  /**
   * What explains it: `fault`: what went wrong differed between those that passed and those that did not; `infrastructure`: only trials that the test bed disturbed or repeated did not
   * pass; `model`: the agent asks a model, and nothing else differed; `agent`: nothing else differed, and no model is known to be asked.
   */
  readonly explained: 'fault' | 'infrastructure' | 'model' | 'agent';
  readonly because: string;
  /** One that passed, one that did not. */
  readonly examples: { readonly passed: string; readonly other: string };
}

/** Mixed results within one schedule, then those over schedules. `specs`: agents by hash. */
export function mixedOf(facts: readonly TrialFacts[], specs: ReadonlyMap<string, AgentSpec>): readonly MixedCase[] {
  const scored = facts.filter(isScored);
  const within = groupsBy(scored, (one) => [one.case, one.agent, one.schedule]).flatMap((group) => mixedGroup(group, specs));
  const over = groupsBy(scored, (one) => [one.case, one.agent]).flatMap((group) => acrossSchedules(group));
  return [...within, ...over];
}

function groupsBy(facts: readonly TrialFacts[], key: (one: TrialFacts) => readonly string[]): readonly (readonly TrialFacts[])[] {
  return [...Map.groupBy(facts, (one) => JSON.stringify(key(one))).values()];
}

function halves(
  group: readonly TrialFacts[],
): { readonly passed: readonly [TrialFacts, ...TrialFacts[]]; readonly others: readonly [TrialFacts, ...TrialFacts[]] } | null {
  const [firstPassed, ...passed] = group.filter(({ pass }) => pass === 'pass');
  const [firstOther, ...others] = group.filter(({ pass }) => pass !== 'pass');
  return firstPassed === undefined || firstOther === undefined ? null : { passed: [firstPassed, ...passed], others: [firstOther, ...others] };
}

function mixedGroup(group: readonly TrialFacts[], specs: ReadonlyMap<string, AgentSpec>): readonly MixedCase[] {
  const split = halves(group);
  if (split === null) return [];
  const { passed, others } = split;
  const disturbed = (one: TrialFacts): boolean => one.disturbed || one.attempts > 1;
  const base = {
    case: passed[0].case,
    agent: passed[0].agent,
    schedule: passed[0].schedule,
    passed: passed.length,
    scored: group.length,
    examples: { passed: passed[0].trial, other: others[0].trial },
  };
  if (others.every(disturbed) && !passed.some(disturbed)) {
    return [
      {
        ...base,
        explained: 'infrastructure',
        because: 'every trial that did not pass was disturbed or repeated by the test bed, and none of those that passed',
      },
    ];
  }
  const injected = (one: TrialFacts): string => JSON.stringify(one.faults?.fired ?? one.faults?.injected ?? 0);
  const [a, b] = [new Set(passed.map(injected)), new Set(others.map(injected))];
  if ([...a].every((one) => !b.has(one)))
    return [{ ...base, explained: 'fault', because: 'other faults were injected in those that passed than in those that did not' }];
  const spec = specs.get(passed[0].agentHash);
  if (group.some(({ tokens }) => tokens !== null) || (spec !== undefined && asksModel(spec))) {
    return [{ ...base, explained: 'model', because: 'the same faults, no trouble of the test bed that explains it: the model answered otherwise' }];
  }
  return [
    {
      ...base,
      explained: 'agent',
      because: 'the same faults, no trouble of the test bed that explains it, and no model that is known: the agent acted otherwise',
    },
  ];
}

function acrossSchedules(group: readonly TrialFacts[]): readonly MixedCase[] {
  const schedules = groupsBy(group, ({ schedule }) => [schedule]);
  if (schedules.length < 2 || schedules.some((own) => halves(own) !== null)) return [];
  const split = halves(group);
  if (split === null) return [];
  const { passed, others } = split;
  const names = [...new Set(others.map(({ schedule }) => schedule))];
  return [
    {
      case: passed[0].case,
      agent: passed[0].agent,
      schedule: null,
      passed: passed.length,
      scored: group.length,
      explained: 'fault',
      because: `it never passes under ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}, and always under the other schedules`,
      examples: { passed: passed[0].trial, other: others[0].trial },
    },
  ];
}

function asksModel(spec: AgentSpec): boolean {
  if (spec.kind === 'model') return true;
  if (spec.kind === 'team') return spec.members.some(({ agent }) => asksModel(agent));
  return 'routes' in spec && (spec.routes ?? []).length > 0;
}
