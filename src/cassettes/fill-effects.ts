import type { Cassette, Interaction } from '../domain/cassette.ts';
import { canonicalJson } from '../suite/identity.ts';
import { NotRecordableError } from './record-cassette.ts';

/**
 * A drafted cassette with what its calls changed in a world in which they were made again. What the tools answered stays as the trace told it.
 *
 * @throws {NotRecordableError} where the world was not called so, or answered a call otherwise than the trace says
 */
export function withEffectsOf(draft: Cassette, recorded: Cassette): Cassette {
  if (!draft.draft) throw new NotRecordableError('it was recorded, and knows what its calls changed');
  const used = new Set<number>();
  const interactions = draft.interactions.map((interaction, index): Interaction => {
    const key = keyOf(interaction);
    const at = recorded.interactions.findIndex((one, place) => !used.has(place) && keyOf(one) === key);
    const made = recorded.interactions[at];
    const place = `interaction ${index + 1} (${interaction.tool})`;
    if (!made) throw new NotRecordableError(`the agent did not make the call of ${place}; the steps of the reference are to be those of the trace`);
    used.add(at);
    if (made.told !== interaction.told)
      throw new NotRecordableError(
        `${place} is ${interaction.told} in the trace and was ${made.told} in the world${made.problem ? ` (${made.problem.message})` : ''}; "state" of the case is to be what the world held`,
      );
    return { ...interaction, known: made.known, effects: made.effects };
  });
  const { others, tables, referenceEffects } = recorded;
  return { ...draft, interactions, others, tables, referenceEffects, draft: { ...draft.draft, effects: [] } };
}

function keyOf({ tool, args }: Interaction): string {
  return canonicalJson({ tool, args });
}
