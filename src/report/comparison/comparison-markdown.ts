import { IN_CLEAR } from '../in-clear.ts';
import { mdCellCode, mdTable, mdText } from '../markdown.ts';
import type { ChangedSide, ChangedTrial, Comparison } from './comparison.ts';
import { amountTexts, noiseSentences, sensitivitySentences } from './sentences.ts';
import { intervalText, namesOf, openingLines, pointsText, SHOWN_TEXTS, sideText } from './wording.ts';

/** A comparison as Markdown, short enough for a comment on a pull request. Foreign text in it is no markup. */
export function comparisonMarkdown(comparison: Comparison): string {
  const { a, b } = comparison;
  const parts = [
    `# ${mdText(sideText(b))} beside ${mdText(sideText(a))}`,
    openingLines(comparison)
      .map(({ label, answer, text }) => `**${label}:** ${answer === null ? '' : `**${SHOWN_TEXTS[answer]}.** `}${mdText(text)}`)
      .join('\n\n'),
    `${a.matched} matched trials: the same case, fault schedule, repetition and generation. Gains are in points of a hundred, above zero where ${mdText(namesOf(comparison).b)} is better.`,
    ...(comparison.schedules.length > 1 ? ['## By fault schedule', schedulesTable(comparison)] : []),
    '## What changed',
    changedTable(comparison),
    ...(comparison.amounts.length > 0 ? ['## Amounts', amountsTable(comparison)] : []),
    '## How far this goes',
    [...noiseSentences(comparison), ...sensitivitySentences(comparison)].map((line) => `- ${mdText(line)}`).join('\n'),
    IN_CLEAR,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Rows of a table: a comment on a pull request has at most 65,536 characters. */
const MOST_ROWS = 40;
const MAX_WHY = 160;

function schedulesTable({ schedules, changes }: Comparison): string {
  const shown = [...schedules].sort((one, other) => other.better + other.worse - one.better - one.worse).slice(0, MOST_ROWS);
  const table = mdTable(
    ['schedule', 'trials', 'better', 'worse', 'safer', 'more useful'],
    shown.map(({ schedule, trials, better, worse, safer, useful, neverFired }) => [
      `${mdCellCode(schedule)}${neverFired ? ' (never fired)' : ''}`,
      String(trials),
      String(better),
      String(worse),
      `${SHOWN_TEXTS[safer.answer]} (${intervalText(safer.interval)})`,
      `${SHOWN_TEXTS[useful.answer]} (${intervalText(useful.interval)})`,
    ]),
  );
  const left = schedules.length - shown.length;
  return `${table}${left > 0 ? `\n\nAnd ${left} more.` : ''}${changes === 0 ? '\n\nNo trial came out otherwise.' : ''}`;
}

/** Trials that came out otherwise, as a table. */
export function changedTable(comparison: Comparison): string {
  if (comparison.changes === 0) return 'No trial came out otherwise.';
  const names = namesOf(comparison);
  const shown = comparison.changed.slice(0, MOST_ROWS);
  const table = mdTable(
    ['case', 'faults', 'repetition', 'change', mdText(names.a), mdText(names.b)],
    shown.map((one) => [mdCellCode(one.case), mdCellCode(one.schedule), String(one.repetition), changeText(one), sideCell(one.a), sideCell(one.b)]),
  );
  const left = comparison.changes - shown.length;
  return left > 0 ? `${table}\n\nAnd ${left} more.` : table;
}

function changeText({ change, severity }: ChangedTrial): string {
  return severity === 'medium' ? change : `${change}, ${severity}`;
}

function sideCell({ pass, ending, why }: ChangedSide): string {
  const text = why === null ? '' : why.length > MAX_WHY ? `${why.slice(0, MAX_WHY)}…` : why;
  return `${pass ?? ending ?? 'not ended'}${text === '' ? '' : `: ${mdText(text)}`}`;
}

function amountsTable(comparison: Comparison): string {
  const names = namesOf(comparison);
  return mdTable(
    ['mean of a trial', mdText(names.a), mdText(names.b), 'difference', '95% interval'],
    comparison.amounts.map((amount) => [amount.name, ...amountTexts(amount)]),
  );
}

/** The sentences of a comparison for the report of its candidate. */
export function comparisonSentences(comparison: Comparison): readonly string[] {
  return openingLines(comparison).map(({ label, answer, text }) => `${label}: ${answer === null ? '' : `${SHOWN_TEXTS[answer]}. `}${text}`);
}

/** `+12.0 (+3.1 to +20.9)`. */
export function gainText({ gain, interval }: { readonly gain: number | null; readonly interval: { readonly low: number; readonly high: number } }): string {
  return gain === null ? 'not known' : `${pointsText(gain)} (${intervalText(interval)})`;
}
