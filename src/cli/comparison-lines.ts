import type { ChangedSide, Comparison } from '../report/comparison/comparison.ts';
import { evidenceText, plainText, shorten } from '../report/plain-text.ts';
import type { Paint } from './host.ts';
import { noiseSentences, sensitivitySentences } from '../report/comparison/sentences.ts';
import { intervalText, openingLines, SHOWN_TEXTS, sideText } from '../report/comparison/wording.ts';

/** A comparison on a terminal; safe to print. Long lines are wrapped by the terminal, except of tables. */
export function comparisonLines(comparison: Comparison, columns: number, paint: Paint): readonly string[] {
  const colours = { yes: 'green', no: 'red', not_shown: 'bold' } as const;
  const opening = openingLines(comparison).map(({ label, answer, text }) => {
    const said = answer === null ? '' : `${paint(colours[answer], SHOWN_TEXTS[answer])}. `;
    return `${paint('bold', `${label}:`)} ${said}${plainText(text)}`;
  });
  return [
    ...opening,
    '',
    paint('dim', plainText(`${sideText(comparison.b)} beside ${sideText(comparison.a)}, ${comparison.a.matched} matched trials; gains in points of a hundred`)),
    ...schedulesPart(comparison, paint),
    ...changedPart(comparison, columns, paint),
    '',
    paint('bold', 'How far this goes'),
    ...[...noiseSentences(comparison), ...sensitivitySentences(comparison)].map((line) => `  ${plainText(line)}`),
  ];
}

const MOST_ROWS = 12;

function schedulesPart({ schedules }: Comparison, paint: Paint): readonly string[] {
  const changed = schedules.filter(({ better, worse }) => better + worse > 0);
  if (schedules.length < 2 || changed.length === 0) return [];
  const rows = changed
    .slice(0, MOST_ROWS)
    .map(
      ({ schedule, trials, better, worse, safer, useful }) =>
        `  ${plainText(schedule)}: ${better} better, ${worse} worse of ${trials}; safer ${SHOWN_TEXTS[safer.answer]} (${intervalText(safer.interval)}), more useful ${SHOWN_TEXTS[useful.answer]} (${intervalText(useful.interval)})`,
    );
  const left = changed.length - rows.length;
  return ['', paint('bold', 'By fault schedule'), ...rows, ...(left > 0 ? [`  and ${left} more`] : [])];
}

function changedPart({ changed, changes }: Comparison, columns: number, paint: Paint): readonly string[] {
  if (changes === 0) return ['', 'No trial came out otherwise.'];
  const rows = changed
    .slice(0, MOST_ROWS)
    .flatMap((one) => [
      `  ${paint(one.change === 'better' ? 'green' : 'red', one.change)}  ${plainText(`${one.case}, ${one.schedule}, repetition ${one.repetition}`)}`,
      sideLine(one.a, columns),
      sideLine(one.b, columns),
    ]);
  const left = changes - Math.min(changes, MOST_ROWS);
  return ['', paint('bold', 'What changed'), ...rows, ...(left > 0 ? [`  and ${left} more: --html has them, with both timelines`] : [])];
}

function sideLine({ trial, pass, ending, why }: ChangedSide, columns: number): string {
  return shorten(`    ${plainText(trial)}  ${pass ?? ending ?? 'not ended'}${why === null ? '' : `  ${evidenceText(why)}`}`, Math.max(40, columns));
}
