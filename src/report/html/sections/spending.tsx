import type { TrialFacts } from '../../../domain/trial-facts.ts';
import { durationText } from '../../duration-text.ts';
import type { ReportData } from '../../data.ts';
import type { Distribution } from '../../figures/spending.ts';
import { distributionChart } from '../charts/distribution-chart.ts';
import { label } from '../charts/draw.ts';
import { Figure } from '../figure.tsx';
import { DataTable } from '../table.tsx';
import { Name } from '../words.tsx';

/** Money, tokens and times, how they are spread and what they come to. Null where nothing was measured. */
export function spendingBody({ spending, facts }: Pick<ReportData, 'spending' | 'facts'>) {
  const currencies = [...new Set(spending.flatMap(({ money }) => Object.keys(money)))];
  const rows = spending
    .slice(0, LISTED)
    .flatMap(({ agent, money, tokensIn, tokensOut, wallMs, agentMs, toolMs, waitMs, calls }) => [
      ...Object.entries(money).map(([currency, of]) => ({ agent, what: `${label(currency, 12)}, all attempts`, of, text: amount })),
      { agent, what: 'input tokens, all attempts', of: tokensIn, text: amount },
      { agent, what: 'output tokens, all attempts', of: tokensOut, text: amount },
      { agent, what: 'calls', of: calls, text: amount },
      { agent, what: 'time, whole attempt', of: wallMs, text: time },
      { agent, what: "time, the agent's own", of: agentMs, text: time },
      { agent, what: 'time, its calls', of: toolMs, text: time },
      { agent, what: 'time, the test bed and its queues', of: waitMs, text: time },
    ]);
  const measured = rows.filter(({ of }: { readonly of: Distribution }) => of.n > 0);
  if (measured.length === 0) return null;
  const extra = spending.reduce((sum, { extraAttempts }) => sum + extraAttempts, 0);
  const charts = [
    distributionChart(
      "The agent's own time",
      'seconds',
      amounts(facts, ({ times }) => inSeconds(times?.agentMs)),
    ),
    distributionChart(
      'Time in tools',
      'seconds',
      amounts(facts, ({ times }) => inSeconds(times?.toolMs)),
    ),
    distributionChart(
      'Our own waiting',
      'seconds',
      amounts(facts, ({ times }) => inSeconds(times?.waitMs)),
    ),
    distributionChart(
      'tokens, all attempts',
      'tokens',
      amounts(facts, ({ tokens }) => (tokens === null ? null : tokens.input + tokens.output)),
    ),
    ...currencies.map((currency) =>
      distributionChart(
        'cost, all attempts',
        label(currency, 12),
        amounts(facts, ({ money }) => money?.[currency]),
      ),
    ),
  ].filter((chart) => chart !== null);
  return (
    <>
      <p class="says">
        Tokens and money are of all attempts, failed ones included; times are of the attempt that counts. What was not measured is never counted as zero. In
        each chart a line stands at the half of the trials, dashes at nine of ten.
        {extra > 0 && ` What ${extra} repeated attempts used is in the sums.`}
      </p>
      <div class="charts">
        {charts.map((chart) => (
          <Figure chart={chart} />
        ))}
      </div>
      <DataTable
        caption="What trials took"
        head={['agent', 'what', 'sum', 'half below', '9 of 10 below', '99 of 100 below', 'most', 'trials', 'not measured']}
        numbers={[2, 3, 4, 5, 6, 7, 8]}
        rows={measured.map(({ agent, what, of, text }) => [
          <Name text={agent} />,
          what,
          ...[of.sum, of.p50, of.p90, of.p99, of.max].map((value) => (value === null ? '' : text(value))),
          String(of.n),
          String(of.unmeasured),
        ])}
        more={{ rows: spending.length - LISTED, where: 'in report.json' }}
      />
    </>
  );
}

const LISTED = 50;

function amounts(facts: readonly TrialFacts[], of: (facts: TrialFacts) => number | null | undefined) {
  return [...Map.groupBy(facts, ({ agent }) => agent)].map(([name, trials]) => ({ name, values: trials.flatMap((one) => of(one) ?? []) }));
}

function inSeconds(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : ms / 1000;
}

function time(ms: number): string {
  return durationText(ms / 1000);
}

function amount(value: number): string {
  return Number(value.toPrecision(6)).toLocaleString('en-US', { maximumFractionDigits: 6 });
}
