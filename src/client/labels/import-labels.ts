import { SuiteFileError } from '../../suite/suite.ts';
import type { Labelling } from './labelling.ts';
import { labelProblem, readLabelFile, type WrittenLabel } from './label-file.ts';

/** What a file of labels brought. */
export interface ImportedLabels {
  readonly batch: string;
  readonly rubric: string;
  readonly version: string;
  /** By person: labels that were stored, and of these those that took the place of another one. */
  readonly raters: readonly { readonly rater: string; readonly labels: number; readonly replaced: number }[];
}

/** Stores the labels of a file, all of them or none. `open`: what a person has to label. @throws {SuiteFileError} that lists every line that cannot be taken, before anything is stored */
export async function importLabels(file: string, rater: string, open: (rater: string) => Promise<Labelling>): Promise<ImportedLabels> {
  const first = await open(rater);
  const { rubric } = first.stored;
  const lines = await readLabelFile(
    file,
    rubric.scale.map(({ category }) => category),
  );
  const labellings = new Map([[rater, first]]);
  const itemsOf = new Map<string, ReadonlyMap<string, boolean>>();
  const taken = new Map<string, number>();
  const problems: SuiteFileError['problems'][number][] = [];
  const labels: { readonly of: Labelling; readonly item: string; readonly line: WrittenLabel }[] = [];
  for (const line of lines) {
    const name = line.rater ?? rater;
    const of = labellings.get(name) ?? (await open(name));
    labellings.set(name, of);
    const known = itemsOf.get(name) ?? new Map(of.items.map(({ item, label }) => [item, label !== null]));
    itemsOf.set(name, known);
    const item = 'trial' in line.what ? of.itemOf(line.what.trial) : known.has(line.what.item) ? line.what.item : null;
    if (item === null) {
      problems.push(labelProblem(file, line, 'item' in line.what ? unknownItem(line.what.item, of) : unknownTrial(line.what.trial, of)));
      continue;
    }
    const key = `${name}\n${item}`;
    const before = taken.get(key);
    if (before !== undefined) problems.push(labelProblem(file, line, `${name} has labelled this in line ${before} already; keep one of the two`));
    taken.set(key, before ?? line.line);
    labels.push({ of, item, line });
  }
  if (problems.length > 0) throw new SuiteFileError(problems);
  const counts = new Map<string, { labels: number; replaced: number }>();
  for (const { of, item, line } of labels) {
    await of.label(item, { category: line.category, note: line.note });
    const count = counts.get(of.rater) ?? { labels: 0, replaced: 0 };
    const had = itemsOf.get(of.rater)?.get(item) === true;
    counts.set(of.rater, { labels: count.labels + 1, replaced: count.replaced + (had ? 1 : 0) });
  }
  return { batch: first.batch, rubric: rubric.name, version: rubric.version, raters: [...counts].map(([name, count]) => ({ rater: name, ...count })) };
}

function unknownItem(item: string, { rater, batch, stored }: Labelling): string {
  return `${JSON.stringify(item)} is no item of ${rater} in batch ${batch} by rubric ${stored.rubric.name}, version ${stored.rubric.version}: items are of one person and one text of a rubric`;
}

function unknownTrial(trial: string, { batch }: Labelling): string {
  return `${JSON.stringify(trial)} is no trial of batch ${batch} with a verdict`;
}
