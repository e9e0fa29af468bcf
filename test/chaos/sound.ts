import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';

const TOLD: ReadonlySet<string> = new Set(['committed', 'failed', 'unknown', 'rejected', 'denied', 'awaiting_approval']);

/**
 * What does not hold of a trial that holds of every one, whatever its agent did and whatever befell it: each operation has an end that is known, what was told is
 * true, each committed write has its effects, each effect a committed operation, and nothing came behind the fence. Null for `snapshot`: none was kept.
 */
export function unsoundness(record: TrialRecord, snapshot: JsonObject | null): readonly string[] {
  const wrong: string[] = [];
  const operations = new Map(record.operations.map((operation) => [operation.id, operation]));
  const effects = record.effects.filter((effect) => effect.byFault === undefined && (effect.kind === 'row' || effect.accepted));
  for (const { operation } of effects) {
    const { known } = operations.get(operation ?? '') ?? {};
    if (known !== 'committed') wrong.push(`an effect of ${operation}, which is ${known ?? 'no operation'}`);
  }
  for (const { id, tool, effect, told, known, position, replayOf } of operations.values()) {
    const what = `${id} (${tool})`;
    if (!TOLD.has(told)) wrong.push(`${what} has no end: it was told ${told}`);
    if (known !== 'committed' && known !== 'failed') wrong.push(`${what} is ${known}, which is not known`);
    if ((told === 'failed' || told === 'rejected' || told === 'denied') && known !== 'failed') wrong.push(`${what} was told ${told} and is ${known}`);
    if (told === 'committed' && known !== 'committed') wrong.push(`${what} was told committed and is ${known}`);
    if (position === null || replayOf || effect === 'read' || effect === null) continue;
    const seen = effects.some((one) => one.operation === id);
    if (seen !== (known === 'committed')) wrong.push(`${what} is ${known} and has ${seen ? 'effects' : 'no effect'}`);
  }
  const later = snapshot && (snapshot['effects'] as readonly unknown[]).length - record.effects.length;
  if (later) wrong.push(`${later} effects after the fence`);
  return wrong;
}
