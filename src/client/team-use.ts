import { totalsOf } from '../domain/model.ts';
import type { TeamUse, TrialSummary } from '../domain/trial.ts';
import type { BatchCalls } from './model-use.ts';

/** What each team of a batch did, and what the models of its members used. In the order of first occurrence. */
export function teamUseOf(summaries: readonly TrialSummary[], calls: BatchCalls): readonly TeamUse[] {
  const teams = Map.groupBy(
    summaries.flatMap(({ agent, team }) => (team ? [{ agent, team }] : [])),
    ({ agent }) => agent,
  );
  return [...teams].map(([agent, played]) => {
    const sum = (of: 'calls' | 'handOvers', member: string) => played.reduce((total, { team }) => total + (own(team[of], member) ?? 0), 0);
    const made = calls.filter(({ agentName, call }) => agentName === agent && call.who === 'agent');
    const members = new Set([
      ...played.flatMap(({ team }) => [...Object.keys(team.calls), ...Object.keys(team.handOvers)]),
      ...made.flatMap(({ call }) => call.agent ?? []),
    ]);
    return {
      agent,
      trials: played.length,
      handOvers: [...members].reduce((total, member) => total + sum('handOvers', member), 0),
      repeated: played.reduce((total, { team }) => total + team.repeated, 0),
      repeatedIn: played.filter(({ team }) => team.repeated > 0).length,
      members: [...members].map((member) => ({
        member,
        calls: sum('calls', member),
        handOvers: sum('handOvers', member),
        models: totalsOf(made.filter(({ call }) => call.agent === member).map(({ call }) => call)),
      })),
    };
  });
}

/** A member may be called what every object has. */
function own(counts: { readonly [member: string]: number }, member: string): number | undefined {
  return Object.hasOwn(counts, member) ? counts[member] : undefined;
}
