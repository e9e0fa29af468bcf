import type { ExpectedComparison, OpenSnapshot, RestoredSnapshot, SnapshotComparison, SnapshotRow, SnapshotView } from '../client/api.ts';
import { netEffects } from '../domain/grading/net.ts';
import { describeEffect } from '../domain/grading/slots.ts';
import type { SnapshotDifference } from '../domain/snapshot-difference.ts';
import { plainText } from '../report/plain-text.ts';
import type { Hint } from './hint.ts';
import type { Paint } from './host.ts';
import { textTable } from './table.ts';

/** Rows and mails that are listed; the rest is counted. */
const MOST = 200;

export function snapshotTable(rows: readonly SnapshotRow[], open: readonly OpenSnapshot[], columns: number): readonly string[] {
  const restored = new Map(open.map(({ snapshot, until }) => [snapshot, until]));
  return textTable(
    ['SNAPSHOT', 'CASE', 'SCHEDULE', 'AGENT', 'ENDING', 'ENDED', 'KB', 'RESTORED UNTIL'],
    rows.map((row) =>
      [row.id, row.case, row.schedule, row.agent, row.ending ?? 'runs', row.endedAt ?? '', String(Math.ceil(row.bytes / 1024)), restored.get(row.id) ?? ''].map(
        (cell) => plainText(cell),
      ),
    ),
    { columns },
  );
}

export function snapshotLines(view: SnapshotView, paint: Paint): readonly string[] {
  const { world } = view;
  const net = netEffects(world.effects);
  return [
    `${paint('bold', plainText(view.id))}  ${plainText(`${view.case}, agent ${view.agent}, schedule ${view.schedule}: ${view.ending ?? 'runs'}`)}`,
    plainText(`environment ${view.environment.name} ${view.environment.version}, generation ${world.generation.slice(0, 12)}, isolation ${world.isolation}`),
    plainText(`clock ${world.clock} (${world.timezone}); ${world.operations.length} operations, ${net.length} net effects, ${view.rawMails} raw mails`),
    ...bounded(net.map((effect) => `  ${plainText(describeEffect(effect))}`)),
    ...(view.restoredUntil === null ? [] : [`restored, to be read until ${plainText(view.restoredUntil)}`]),
  ];
}

export function restoredLines(restored: RestoredSnapshot, hint: Hint, held: boolean): readonly string[] {
  const end = hint(`snapshot end ${restored.snapshot}`);
  return [
    plainText(`the world of ${restored.snapshot} stands as it was, closed to every write`),
    `  psql '${plainText(restored.sqlUrl)}'`,
    ...(restored.inbox.length === 0 ? ['  no raw mails'] : [`  ${restored.inbox.length} mails: ${plainText(restored.folder)}/inbox`]),
    ...(restored.tickets === null ? [] : [`  tickets: ${plainText(restored.tickets)}`]),
    `it ends by itself at ${plainText(restored.until)}; before: ${held ? 'Ctrl-C, or ' : ''}"${end}"`,
  ];
}

export function comparisonLines(comparison: SnapshotComparison, paint: Paint): readonly string[] {
  const { first, second, sameStart, differences } = comparison;
  return [
    ...(sameStart ? [] : [paint('yellow', 'they began with different rows: what neither trial changed is not compared')]),
    plainText(differences.length === 0 ? `${first} and ${second} are the same` : `- ${first}`),
    ...(differences.length === 0 ? [] : [plainText(`+ ${second}`)]),
    ...bounded(differences.flatMap((difference) => differenceLines(difference, paint))),
  ];
}

export function expectedLines({ snapshot, case: kase, reached, findings }: ExpectedComparison, paint: Paint): readonly string[] {
  if (findings.length === 0) return [plainText(`${snapshot} is as case ${kase} accepts it${reached === null ? '' : ` ("${reached}")`}`)];
  return [
    plainText(`${snapshot} is not as case ${kase} accepts it:`),
    ...bounded(findings.map(({ judgement, code, message }) => `  ${paint(judgement === 'fail' ? 'red' : 'yellow', plainText(code))}  ${plainText(message)}`)),
  ];
}

function differenceLines(difference: SnapshotDifference, paint: Paint): readonly string[] {
  if (difference.kind === 'mail') {
    const sign = difference.in === 'first' ? '-' : '+';
    const times = difference.times > 1 ? ` (${difference.times} times)` : '';
    return [paint(sign === '-' ? 'red' : 'green', plainText(`${sign} mail to ${difference.to.join(', ')}: ${difference.subject}${times}`))];
  }
  const { table, key, first, second, columns } = difference;
  const name = `${table} ${JSON.stringify(key)}`;
  if (first === null) return [paint('green', plainText(`+ ${name} ${JSON.stringify(second)}`))];
  if (second === null) return [paint('red', plainText(`- ${name} ${JSON.stringify(first)}`))];
  return [
    plainText(`  ${name}`),
    ...columns.flatMap((column) => [
      paint('red', plainText(`-   ${column}: ${JSON.stringify(first[column] ?? null)}`)),
      paint('green', plainText(`+   ${column}: ${JSON.stringify(second[column] ?? null)}`)),
    ]),
  ];
}

function bounded(lines: readonly string[]): readonly string[] {
  return lines.length <= MOST ? lines : [...lines.slice(0, MOST), `... and ${lines.length - MOST} more lines; --json has them all`];
}
