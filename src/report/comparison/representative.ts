import type { ChangedTrial } from './comparison.ts';

const KINDS: readonly ChangedTrial['change'][] = ['worse', 'mixed', 'better'];

/** Some changed trials that stand for all: of each kind of change, of each case and schedule one before a second of any; the worse ones first. In their own order. */
export function representative(changed: readonly ChangedTrial[], most: number): readonly ChangedTrial[] {
  const seen = new Map<string, number>();
  const ranked = changed.map((one) => {
    const key = JSON.stringify([one.change, one.case, one.schedule]);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return { one, before };
  });
  const chosen = new Set<ChangedTrial>();
  // Turns go round the kinds, so that many of one kind leave room for another.
  const queues = KINDS.map((kind) => ranked.filter(({ one }) => one.change === kind).sort((a, b) => a.before - b.before));
  for (let turn = 0; chosen.size < most && queues.some((queue) => turn < queue.length); turn++)
    for (const queue of queues) {
      const next = queue[turn];
      if (next !== undefined && chosen.size < most) chosen.add(next.one);
    }
  return changed.filter((one) => chosen.has(one));
}
