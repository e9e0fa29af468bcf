import type { AskedAgreement } from '../client/labels/labels.ts';
import { seriesText } from '../report/raters/disagreements-markdown.ts';
import { pairText } from '../report/raters/agreement-markdown.ts';
import type { RaterPair } from '../judges/rater-agreement.ts';
import { plainText } from '../report/plain-text.ts';
import type { Paint } from './host.ts';
import { textTable } from './table.ts';
import { wrap } from './trial-timeline.ts';

/** Disagreements that are listed; `--json` and `--export` have all. */
const MOST_LISTED = 20;

/** How raters agree, for people: each two with what can be said of them and their table, then the trials on which they differ. */
export function agreementLines(agreement: AskedAgreement, columns: number, paint: Paint): string[] {
  const { rubric, version, digest, batches, raters, series, pairs, disagreements, leftOut, otherTexts, judges } = agreement;
  return [
    paint('bold', plainText(`rubric ${rubric}, version ${version} (${digest.slice(0, 12)}), batches ${batches.join(', ')}`)),
    ...people(
      'labels',
      raters.map(({ rater, labels }) => [rater, labels]),
    ),
    ...people(
      'scores',
      series.map(({ series: id, scores }) => [seriesText(id, judges), scores]),
    ),
    ...otherTexts.map(({ version: other, labels }) =>
      paint(
        'yellow',
        plainText(`${labels} labels are by another text of this rubric, version ${other}, and are not counted: categories of two texts are not the same`),
      ),
    ),
    ...(pairs.length === 0 ? ['', 'nobody can be compared: agreement needs two people, or a judge and a person'] : []),
    ...pairs.flatMap((pair) => pairLines(pair, agreement, columns, paint)),
    ...(leftOut > 0 ? ['', `${leftOut} people with few labels are in no pair`] : []),
    '',
    disagreements.length === 0 ? 'disagreements: none' : `disagreements: ${disagreements.length} trials`,
    ...disagreements
      .slice(0, MOST_LISTED)
      .flatMap(({ trial, scores, labels }) =>
        wrap(
          plainText(
            `  ${trial}: ${[...scores.map((one) => `${seriesText(one.series, judges)} ${one.category}`), ...labels.map((one) => `${one.rater} ${one.category}`)].join(', ')}`,
          ),
          columns,
        ),
      ),
    ...(disagreements.length > MOST_LISTED ? [`  and ${disagreements.length - MOST_LISTED} more; --export writes all with what raters saw`] : []),
  ];
}

function people(what: string, of: readonly (readonly [string, number])[]): string[] {
  return of.length === 0 ? [`${what}: none`] : [plainText(`${what}: ${of.map(([name, count]) => `${name} ${count}`).join(', ')}`)];
}

function pairLines(pair: RaterPair, { scale, judges }: AskedAgreement, columns: number, paint: Paint): string[] {
  const head = ['', paint('bold', plainText(pairText(pair, judges))), ...wrap(plainText(`  ${pair.says}`), columns)];
  if (pair.both === 0) return head;
  const rows = pair.table.map((counts, at) => [plainText(scale[at] ?? ''), ...counts.map(String)]);
  return [
    ...head,
    ...textTable(['first \\ second', ...scale.map((name) => plainText(name))], rows, { columns: columns - 2, headPaint: (text) => paint('dim', text) }).map(
      (line) => `  ${line}`,
    ),
  ];
}
