import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { BatchSummary } from '../../domain/trial.ts';

/** Whether each trial had its world to itself: what leaked out of trials, and what came into them from elsewhere. */
export interface Isolation {
  /** Worlds that are leased still; of a batch that runs, those in use among them. */
  readonly leakedWorlds: number;
  /** Worlds of which something was other than their journal says when they were to be used again. Null: not counted. */
  readonly unlikeWorlds: number | null;
  /** Changes and mails in worlds that no operation of their trial made, and no fault either. */
  readonly strayEffects: number;
  /** Trials with any. */
  readonly strayTrials: number;
  /** One of them; null: there is none. */
  readonly example: string | null;
  /** Trials whose agent had clients of its own, so that its own effects are of no operation and nothing can be told from this. */
  readonly untold: number;
  /** Trials without a verdict: their worlds were not looked at. */
  readonly ungraded: number;
  /** Writes that came after the fence, and were refused. */
  readonly lateWrites: number;
}

/** `ownAccess`: hashes of agents with clients of their own. */
export function isolationOf(facts: readonly TrialFacts[], worlds: BatchSummary['worlds'], ownAccess: ReadonlySet<string>): Isolation {
  const graded = facts.filter(({ diagnostics }) => diagnostics !== null);
  const told = graded.filter(({ agentHash }) => !ownAccess.has(agentHash));
  const stray = told.filter((one) => strayEffects(one) > 0);
  return {
    leakedWorlds: worlds.leaked,
    unlikeWorlds: worlds.unlike ?? null,
    strayEffects: stray.reduce((sum, one) => sum + strayEffects(one), 0),
    strayTrials: stray.length,
    example: stray[0]?.trial ?? null,
    untold: graded.length - told.length,
    ungraded: facts.length - graded.length,
    lateWrites: facts.reduce((sum, { diagnostics }) => sum + (diagnostics?.lateAttempts ?? 0), 0),
  };
}

/** Effects in a trial's world that no operation of the trial made. */
export function strayEffects({ diagnostics }: Pick<TrialFacts, 'diagnostics'>): number {
  return (diagnostics?.unattributedEffects ?? 0) + (diagnostics?.foreignEffects ?? 0);
}

/** Both counts, and what they are of, for people. Names in it are not escaped for any page. */
export function isolationLines(isolation: Isolation): readonly { readonly what: string; readonly count: string; readonly says: string }[] {
  const { leakedWorlds, unlikeWorlds, strayEffects: effects, strayTrials, example, untold, ungraded, lateWrites } = isolation;
  const left = [
    untold > 0 ? `${untold} trials are not among them, since their agent had clients of its own, whose effects are of no operation` : null,
    ungraded > 0 ? `${ungraded} trials have no verdict, so that nobody looked` : null,
  ].filter((part) => part !== null);
  return [
    {
      what: 'contamination: effects of no operation',
      count: String(effects),
      says: `Changes and mails in a world that no operation of its trial made${effects > 0 ? `, in ${strayTrials} trials, for example ${example ?? ''}` : ''}.${left.length > 0 ? ` ${left.join('; ')}.` : ''}`,
    },
    {
      what: 'contamination: worlds other than their journal says',
      count: unlikeWorlds === null ? 'not counted' : String(unlikeWorlds),
      says: 'After its trial a world did not become its seed again: somebody wrote past its journal. It was dropped, and no trial got it.',
    },
    {
      what: 'leaks: worlds that nobody gave back',
      count: String(leakedWorlds),
      says: leakedWorlds > 0 ? 'Leased still, by trials that run or of which the sweeper has not heard yet.' : 'Every world was given back or dropped.',
    },
    { what: 'late writes', count: String(lateWrites), says: 'Came after the fence, and were refused by the system of record.' },
  ];
}
