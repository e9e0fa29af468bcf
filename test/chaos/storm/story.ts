import type { Storm } from './storm.ts';

/** What was seen, for people. */
export function story({ options, kills, missed, recoveries, batches, gaveUp, swept, violations }: Storm): string {
  const lines = ['', 'killed', ...counted(kills.map(({ what, failpoint }) => failpoint ?? what)).map(([what, n]) => `  ${String(n).padStart(4)}  ${what}`)];
  lines.push('', 'seconds from a kill to the next step of a trial that it met', `  ${'n'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)}`);
  const groups = [...counted(recoveries.map(({ what }) => what)).map(([what]) => what)];
  for (const what of ['all', ...groups]) {
    const times = recoveries.filter((one) => what === 'all' || one.what === what).map(({ ms }) => ms);
    if (times.length === 0) continue;
    lines.push(`  ${String(times.length).padStart(5)} ${seconds(quantile(times, 0.5))} ${seconds(quantile(times, 0.95))}  ${what}`);
  }
  lines.push('');
  for (const one of batches) {
    lines.push(
      `${one.suite}: ${one.trials} trials in ${one.seconds.toFixed(0)} s, undisturbed in ${one.undisturbedSeconds.toFixed(0)} s; ${one.disturbed} disturbed, ${one.furtherAttempts} by a further attempt, ` +
        `${one.requeued} lost three times and put into the queue again, ${one.equalThroughout} equal in every operation, effect and message`,
    );
  }
  lines.push(`${swept} worlds dropped by the sweeper`);
  if (missed.length > 0) lines.push(`failpoints that nothing came to: ${missed.join(', ')}`);
  for (const one of gaveUp) lines.push(`started again: ${one}`);
  lines.push(
    '',
    violations.length === 0 ? `seed ${options.seed}: all holds` : `seed ${options.seed}: ${violations.length} violations`,
    ...violations.map((one) => `  ${one}`),
  );
  return lines.join('\n');
}

/** Of numbers in any order; 0 of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

function counted(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1).padStart(7);
}
