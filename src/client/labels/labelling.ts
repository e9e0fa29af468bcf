import type { StoredRubric } from '../../domain/rubric.ts';
import { labelOrder } from '../../judges/label-order.ts';
import { type Material, materialOf } from '../../judges/material.ts';
import type { Store } from '../../store/store.ts';
import { LabelRefusedError } from './errors.ts';

/** Which trials to label, by which rubric, and who labels. */
export interface LabelRequest {
  readonly batch: string;
  /** Name of a rubric of the batch's suite. */
  readonly rubric: string;
  /** Whose labels they are. Default: the user of this process. */
  readonly rater?: string;
}

/** What one person has to label: blind, in an order of their own. */
export interface Labelling {
  readonly batch: string;
  readonly stored: StoredRubric;
  readonly rater: string;
  /** In the order in which they are to be labelled. */
  readonly items: readonly LabelItem[];
  /** What there is to see of an item. @throws {LabelRefusedError} for one that is none of these, or whose record is gone */
  material(item: string): Promise<Material>;
  /** Stores a label at once, in place of an earlier one of the same person. @throws {LabelRefusedError} as of `material`, and for a category that the rubric has not or a note that is too long */
  label(item: string, given: GivenLabel): Promise<void>;
  /** The item of a trial, for who knows it by that name. Null: it is not to be labelled. */
  itemOf(trial: string): string | null;
}

/** A trial that is to be labelled, by a name that tells nothing of it. */
export interface LabelItem {
  readonly item: string;
  /** What this person said of it; null: nothing yet. */
  readonly label: GivenLabel | null;
}

export interface GivenLabel {
  readonly category: string;
  readonly note: string | null;
}

/** Characters of a note. */
export const MOST_NOTE = 2_000;

/** What of the store labelling needs. */
export type LabelStore = Pick<Store, 'record'> & { readonly judging: Pick<Store['judging'], 'trialsToLabel' | 'labels' | 'putLabel'> };

/** What a person has to label of a batch: the trials that were graded, whose attempt nobody has begun anew. Reads no record before it is shown. */
export async function openLabelling(
  store: LabelStore,
  { batch, stored, rater }: { readonly batch: string; readonly stored: StoredRubric; readonly rater: string },
  now: () => Date,
): Promise<Labelling> {
  const { rubric, digest } = stored;
  const [trials, labels] = await Promise.all([store.judging.trialsToLabel(batch), store.judging.labels(digest, batch)]);
  const attempts = new Map(trials.map(({ trial, attempt }) => [trial, attempt]));
  const own = new Map(labels.filter((label) => label.rater === rater).map((label) => [label.trial, label]));
  const placed = labelOrder(rater, digest, [...attempts.keys()]);
  const byItem = new Map(placed.map(({ item, trial }) => [item, trial]));
  const byTrial = new Map(placed.map(({ item, trial }) => [trial, item]));
  const attemptOf = (item: string): { readonly trial: string; readonly attempt: number } => {
    const trial = byItem.get(item);
    const attempt = trial === undefined ? undefined : attempts.get(trial);
    if (trial === undefined || attempt === undefined)
      throw new LabelRefusedError(`${JSON.stringify(item)} names nothing that ${rater} has to label of batch ${batch} by rubric ${rubric.name}`);
    return { trial, attempt };
  };
  return {
    batch,
    stored,
    rater,
    items: placed.map(({ item, trial }) => {
      const label = own.get(trial);
      return { item, label: label === undefined ? null : { category: label.category, note: label.note } };
    }),
    async material(item) {
      const { trial, attempt } = attemptOf(item);
      const record = await store.record(trial, attempt);
      if (record === null) throw new LabelRefusedError('the record of this trial was removed, so that there is nothing left to see; skip it');
      return materialOf(record, rubric.shows);
    },
    async label(item, { category, note }) {
      const { trial, attempt } = attemptOf(item);
      const scale = rubric.scale.map((one) => one.category);
      if (!scale.includes(category))
        throw new LabelRefusedError(`${JSON.stringify(category)} is no category of rubric ${rubric.name}; expected ${scale.join(', ')}`);
      if (note !== null && note.length > MOST_NOTE) throw new LabelRefusedError(`a note has at most ${MOST_NOTE} characters`);
      const written = note === null || note.trim() === '' ? null : note.toWellFormed().replaceAll('\0', '\uFFFD');
      const at = now().toISOString();
      await store.judging.putLabel({ trial, attempt, rubric: rubric.name, version: rubric.version, digest, rater, category, note: written, at });
    },
    itemOf: (trial) => byTrial.get(trial) ?? null,
  };
}
