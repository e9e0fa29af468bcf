import type { CaseCassette, ReplayedRoute } from '../domain/cassette.ts';
import type { Effect } from '../domain/effect.ts';
import type { InjectedFault } from '../domain/fault.ts';
import type { RecordedFaults } from '../domain/record.ts';

/** A call that an interaction answered, in the order in which the agent made them. */
export interface AnsweredCall {
  readonly operation: string;
  /** Place of the interaction, from 0. */
  readonly entry: number;
}

/** The effects of recorded calls as those of the calls that they answered, in their order; none of it was observed. */
export function replayedEffects({ cassette }: CaseCassette, answered: readonly AnsweredCall[]): readonly Effect[] {
  const own = answered.flatMap(({ operation, entry }) => (cassette.interactions[entry]?.effects ?? []).map((effect) => ({ ...effect, operation })));
  return [...cassette.others, ...own].map((effect, index) => ({ ...effect, seq: index + 1, replayed: true }));
}

/** What had gone wrong when the calls were recorded that answered those of a trial, as of these. Null: it was recorded without a schedule. */
export function replayedFaults({ cassette }: CaseCassette, answered: readonly AnsweredCall[]): Pick<RecordedFaults, 'schedule' | 'rules' | 'injected'> | null {
  const { faults, recorded } = cassette;
  if (!faults) return null;
  const operations = new Map(answered.map(({ operation, entry }) => [entry + 1, operation]));
  const injected = faults.injected.flatMap(({ interaction, ...fault }): InjectedFault[] => {
    if (interaction === null) return [{ ...fault, operation: null }];
    const operation = operations.get(interaction);
    return operation === undefined ? [] : [{ ...fault, operation }];
  });
  return { schedule: recorded.schedule, rules: faults.rules, injected };
}

/** How the calls of a trial went along its cassette. */
export function routeOf({ cassette }: CaseCassette, answered: readonly AnsweredCall[]): ReplayedRoute {
  const { interactions, variant } = cassette;
  const used = new Set(answered.map(({ entry }) => entry));
  const whole = answered.length === interactions.length && answered.every(({ entry }, index) => entry === index);
  const writes = interactions.flatMap(({ effects }, index) => (effects.length === 0 ? [] : [index]));
  const made = answered.map(({ entry }) => entry).filter((entry) => writes.includes(entry));
  return {
    variant,
    route: whole ? 'recorded' : 'other',
    interactions: interactions.length,
    unused: interactions.flatMap((_interaction, index) => (used.has(index) ? [] : [index + 1])),
    writesInOrder: made.every((entry, index) => entry === writes[index]),
  };
}
