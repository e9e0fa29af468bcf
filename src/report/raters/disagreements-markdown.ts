import type { JudgeSeries } from '../../domain/judging.ts';
import type { Json } from '../../domain/json.ts';
import type { Disagreement, LabelAgreement } from '../../judges/rater-agreement.ts';
import type { Material, MaterialMessage } from '../../judges/material.ts';
import { mdBlock, mdCellCode, mdCode, mdTable, mdText } from '../markdown.ts';
import { seriesName, shortId } from '../../domain/series-name.ts';
import { shorten } from '../plain-text.ts';

/** A trial that raters put into different categories, with what they saw. */
export interface DisagreementExample extends Disagreement {
  readonly batch: string;
  readonly case: string;
  /** Null: its record is gone. */
  readonly shown: Material | null;
}

/** Examples of a file; what is beyond is named. */
const MOST_EXAMPLES = 200;
const MOST_TEXT = 6_000;
const MOST_VALUE = 3_000;
const MOST_SHOWN = 60;

/** Disagreements as examples to read: who said what of a trial and why, then what they saw of it. */
export function disagreementsMarkdown(agreement: Omit<LabelAgreement, 'disagreements'>, question: string, examples: readonly DisagreementExample[]): string {
  const { rubric, version, digest, batches, judges } = agreement;
  const parts = [
    `# Disagreements by rubric ${mdText(rubric)}, version ${mdText(version)}`,
    mdText(question),
    `${examples.length} ${examples.length === 1 ? 'trial' : 'trials'} of ${batches.map(mdCode).join(', ')}, rubric ${mdCode(digest.slice(0, 12))}. Secrets and mail addresses are hidden.`,
    ...examples.slice(0, MOST_EXAMPLES).map((example, at) => exampleText(example, at + 1, judges)),
    ...(examples.length > MOST_EXAMPLES ? [`and ${examples.length - MOST_EXAMPLES} more, in the file of lines`] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function exampleText({ trial, case: kase, between, scores, labels, shown }: DisagreementExample, number: number, judges: readonly JudgeSeries[]): string {
  const names = between.map((one) => (one === 'judge' ? 'judge and people' : 'people among themselves')).join('; ');
  const rows = [
    ...scores.map(({ series, category, reason }) => [mdText(seriesText(series, judges)), mdCellCode(category), mdText(shorten(reason ?? '', MOST_VALUE))]),
    ...labels.map(({ rater, category, note }) => [mdText(rater), mdCellCode(category), mdText(shorten(note ?? '', MOST_VALUE))]),
  ];
  return [
    `## ${number}. ${mdCode(kase)}, ${mdCode(trial)}`,
    `Between ${names}.`,
    mdTable(['rater', 'category', 'why'], rows),
    ...(shown === null ? ['The record was removed.'] : materialParts(shown)),
  ].join('\n\n');
}

/** A series as people know it. */
export function seriesText(id: string, judges: readonly JudgeSeries[]): string {
  const series = judges.find((one) => one.id === id);
  return `judge ${series === undefined ? shortId(id) : seriesName(series)}`;
}

function materialParts({ conversation, answer, operations, effects, mail }: Material): readonly string[] {
  return [
    ...listed('Conversation', conversation, messageText),
    ...listed('Answer', answer === null ? null : [answer], messageText),
    ...listed('Operations', operations, ({ seq, tool, by, args, told, problem, result }) =>
      [
        `${seq}. ${mdCode(tool)}${by === 'agent' ? '' : ` by ${mdText(by)}`}: ${told}${problem === null ? '' : `, ${mdText(shorten(`${problem.code}: ${problem.message}`, MOST_VALUE))}`}`,
        jsonBlock(args),
        ...(result === null ? [] : [jsonBlock(result)]),
      ].join('\n\n'),
    ),
    ...listed('Effects', effects, ({ change, table, key, before, after, byOthers }) =>
      [`${change} ${mdCode(table)}${byOthers ? ', by somebody else' : ''}`, jsonBlock({ key, before, after })].join('\n\n'),
    ),
    ...listed('Mail', mail, ({ to, subject, text, accepted }) =>
      [`${accepted ? '' : 'Refused: '}to ${mdText(to.join(', '))}: ${mdText(subject)}`, mdBlock(bounded(text))].join('\n\n'),
    ),
  ];
}

function listed<T>(title: string, things: readonly T[] | null, text: (one: T) => string): readonly string[] {
  if (things === null) return [];
  const more = things.length - MOST_SHOWN;
  return [`### ${title}`, ...(things.length === 0 ? ['none'] : things.slice(0, MOST_SHOWN).map(text)), ...(more > 0 ? [`and ${more} more`] : [])];
}

function messageText({ from, text, data }: MaterialMessage): string {
  return [`**${mdText(from)}**`, mdBlock(bounded(text)), ...(data === null ? [] : [jsonBlock(data)])].join('\n\n');
}

function jsonBlock(value: Json): string {
  return mdBlock(bounded(JSON.stringify(value, null, 2), MOST_VALUE));
}

function bounded(text: string, most: number = MOST_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n… and ${text.length - most} more characters`;
}
