import type { LabelAgreement, RaterPair } from '../../judges/rater-agreement.ts';
import type { ReportData } from '../data.ts';
import { mdCellCode, mdTable, mdText } from '../markdown.ts';
import { seriesText } from './disagreements-markdown.ts';

/** Tables of one rubric; `report.json` has all. */
const MOST_TABLES = 6;

/** How judges and people agree, by each text of a rubric: a line for each two raters, then what the second gave where the first gave what. Empty where nobody labelled. */
export function ratersMarkdown({ raters }: Pick<ReportData, 'raters'>): string {
  return raters.map(agreementText).join('\n\n');
}

function agreementText(agreement: LabelAgreement): string {
  const { rubric, version, scale, pairs, judges } = agreement;
  const tables = pairs.filter(({ both }) => both > 0).slice(0, MOST_TABLES);
  return [
    `**${mdText(`${rubric} ${version}`)}**: ${mdText(ratersText(agreement))}`,
    ...(pairs.length === 0
      ? []
      : [
          mdTable(
            ['raters', 'trials of both', 'agree', 'what can be said'],
            pairs.map((pair) => pairRow(pair, judges)),
          ),
        ]),
    ...tables.map((pair) => `${mdText(pairText(pair, judges))}; rows by the first, columns by the second:\n\n${confusion(scale, pair)}`),
  ].join('\n\n');
}

/** What there is, in a few sentences. */
export function ratersText({ raters, series, pairs, disagreements, leftOut }: LabelAgreement): string {
  const labels = raters.reduce((sum, one) => sum + one.labels, 0);
  const scores = series.reduce((sum, one) => sum + one.scores, 0);
  return [
    `${count(labels, 'label')} by ${count(raters.length, 'person', 'people')}, ${count(scores, 'score')} in ${count(series.length, 'series', 'series')} of judges; ${count(disagreements.length, 'trial')} with a disagreement.`,
    ...(pairs.length === 0 ? ['Nobody can be compared: agreement needs two people, or a judge and a person.'] : []),
    ...(leftOut > 0 ? [`${count(leftOut, 'person', 'people')} with few labels ${leftOut === 1 ? 'is' : 'are'} in no pair.`] : []),
  ].join(' ');
}

function pairRow(pair: RaterPair, judges: LabelAgreement['judges']): readonly string[] {
  const { both, kappa, says } = pair;
  return [mdText(pairText(pair, judges)), String(both), kappa === null ? '' : `${(kappa.observed * 100).toFixed(1)}%`, mdText(says)];
}

/** Two raters as people know them. */
export function pairText({ kind, first, second }: RaterPair, judges: LabelAgreement['judges']): string {
  return kind === 'judge' ? `${seriesText(first, judges)} and people` : `${first} and ${second}`;
}

function confusion(scale: readonly string[], { table }: RaterPair): string {
  return mdTable(
    ['', ...scale.map(mdCellCode)],
    table.map((row, at) => [mdCellCode(scale[at] ?? ''), ...row.map(String)]),
  );
}

function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
