/**
 * The known name that is nearest to one that is not known, as a suggestion; null where none is near. Counts letters inserted, left out,
 * changed, or swapped with their neighbour (optimal string alignment), capital letters and `-` for `_` aside.
 */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const limit = Math.floor((name.length + 1) / 3);
  let best: string | null = null;
  let least = limit + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = distanceOf(plain(name), plain(candidate));
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(changed, swapped, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [before, above] = [above, row];
  }
  return above[b.length] ?? 0;
}
