import type { ChatMessage } from '../../domain/chat.ts';
import type { Json } from '../../domain/json.ts';
import { judgePrompt } from '../../judges/prompt.ts';
import { type ShownTrial, shownTrial } from '../../judges/shown-trial.ts';
import { type AddressPolicy, redactJson } from '../../models/redact.ts';
import type { Store, TrialRow } from '../../store/store.ts';
import type { PlannedJudging } from './plan.ts';

/** What a judge is sent of a trial. Null: there is no record of it, or parts were removed from it, so that nobody can judge it any more. */
export interface Sent {
  readonly messages: readonly ChatMessage[];
  readonly shortened: boolean;
}

const MAX_TEXT = 100_000;

export async function showToJudge(store: Pick<Store, 'record'>, { batch, rubric: { rubric } }: PlannedJudging, trial: TrialRow): Promise<Sent | null> {
  const record = await store.record(trial.id, trial.attempt);
  if (record === null || record.removed !== undefined) return null;
  const shown = shownTrial(record, rubric.shows);
  // It leaves the machine: what a conversation with a model would not keep is not sent to one.
  const parts = redactJson(shown.parts as Json, { secrets: {}, addresses: addressesOf(batch), maxText: MAX_TEXT }) as ShownTrial['parts'];
  return { messages: judgePrompt(rubric, { parts, shortened: shown.shortened }), shortened: shown.shortened };
}

export function addressesOf({ options }: PlannedJudging['batch']): AddressPolicy {
  return options.addresses ?? 'keep';
}
