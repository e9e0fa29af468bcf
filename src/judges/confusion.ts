/** One trial's category by each of two raters. */
export interface RatedPair {
  readonly first: string;
  readonly second: string;
}

/** How many pairs have the row's category by the first rater and the column's by the second, in the order of the scale. Throws UnknownCategoryError for a category that the scale does not have: it would else be left out in silence. */
export function confusionTable(scale: readonly string[], pairs: readonly RatedPair[]): readonly (readonly number[])[] {
  const counts = scale.map(() => scale.map(() => 0));
  for (const { first, second } of pairs) {
    const row = counts[indexIn(scale, first)] ?? [];
    const column = indexIn(scale, second);
    row[column] = (row[column] ?? 0) + 1;
  }
  return counts;
}

/** A score or label names a category that its rubric's scale does not have: it is of another version of the rubric, and must not be mixed with this one. */
export class UnknownCategoryError extends Error {
  override readonly name = 'UnknownCategoryError';
  readonly code = 'unknown_category';
  readonly category: string;

  constructor(category: string, scale: readonly string[]) {
    super(`"${category}" is no category of this scale (${scale.join(', ')}): compare scores and labels of one version of a rubric only`);
    this.category = category;
  }
}

function indexIn(scale: readonly string[], category: string): number {
  const index = scale.indexOf(category);
  if (index < 0) throw new UnknownCategoryError(category, scale);
  return index;
}
