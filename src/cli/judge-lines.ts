import type { JudgeEstimate, JudgeReport, TrialView } from '../client/api.ts';
import { amountText } from '../domain/confirmation.ts';
import { seriesName } from '../domain/series-name.ts';
import { plainText } from '../report/plain-text.ts';

/** What became of judging, for people. */
export function judgedLines(report: JudgeReport): readonly string[] {
  const { series, stands, added, categories, problems, tokens, cost, stopped, standing } = report;
  const lost = stands.unjudgeable > 0 ? `, of which ${stands.unjudgeable} have no whole record any more` : '';
  const money =
    cost === null
      ? 'what it cost is not measured'
      : Object.entries(cost)
          .map(([currency, amount]) => `${amountText(amount)} ${currency}`)
          .join(' + ');
  return [
    `${seriesName(series)}: ${stands.judged} of ${counted(stands.trials, 'trial')} judged, ${added.judged} of them now`,
    Object.entries(categories)
      .map(([category, trials]) => `${category} ${trials}`)
      .join(', '),
    ...(stands.failed > 0
      ? [
          `${counted(stands.failed, 'error')} of the judge (${Object.entries(problems)
            .map(([code, times]) => `${code} ${times}`)
            .join(', ')}); --retry-failed asks again`,
        ]
      : []),
    ...(stands.open > 0 ? [`${stands.open} not judged${lost}`] : []),
    ...(stopped === 'max_cost' ? ['stopped: the limit of money is used up'] : []),
    `${money}${tokens === null ? '' : `; ${tokens.input.toLocaleString('en-US')} tokens in, ${tokens.output.toLocaleString('en-US')} out`}`,
    standing.calibrated ? `calibrated: ${standing.why}` : `uncalibrated: ${standing.why}; no gate takes it`,
  ].map((line) => plainText(line));
}

/** What judging would take, for people. */
export function judgingEstimateLines(estimate: JudgeEstimate): readonly string[] {
  const { rubric, version, route, series, trials, before, unjudgeable, shortened, tokens, cost, basis } = estimate;
  const count = (value: number) => Math.round(value).toLocaleString('en-US');
  return [
    `${rubric} ${version} by ${route} (${series.slice(0, 8)}): ${counted(trials, 'trial')} to judge`,
    ...(before.judged > 0 ? [`${before.judged} judged already`] : []),
    ...(before.failed > 0 ? [`${counted(before.failed, 'error')} of the judge; --retry-failed asks again`] : []),
    ...(unjudgeable > 0 ? [`${unjudgeable} have no whole record any more and cannot be judged`] : []),
    ...(shortened > 0 ? [`${shortened} are too long to be shown whole`] : []),
    `tokens    about ${count(tokens.input.likely)} in, below ${count(tokens.input.high)}; about ${count(tokens.output.likely)} out, below ${count(tokens.output.high)}`,
    `money     ${cost === null ? 'not known: the route has no prices' : `about ${amountText(cost.amount.likely)} ${cost.currency}, below ${amountText(cost.amount.high)} ${cost.currency}`}`,
    basis === 'judgements'
      ? 'from the length of what would be sent, and replies of this judge in this batch'
      : 'from the length of what would be sent; the length of replies is a guess',
  ].map((line) => plainText(line));
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** What judges said of a trial, for its timeline. */
export function judgeLines({ judgements = [] }: Pick<TrialView, 'judgements'>): readonly string[] {
  return judgements.map(({ series, judgement: { category, reason, problem } }) => {
    const said = category === null ? `no category: ${problem?.message ?? ''}` : `${category}: ${reason ?? '[removed]'}`;
    return plainText(`${seriesName(series)}: ${said}`);
  });
}
