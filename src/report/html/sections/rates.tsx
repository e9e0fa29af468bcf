import type { ReportData } from '../../data.ts';
import { intervalText, percent } from '../../figures/rate-text.ts';
import type { Rate } from '../../../domain/gates/rate.ts';
import type { AgentRates, RepeatRate } from '../../figures/rates.ts';
import { type IntervalRow, intervalChart } from '../charts/interval-chart.ts';
import { Figure } from '../figure.tsx';
import { DataTable } from '../table.tsx';
import { Name } from '../words.tsx';

/** How often each agent passed, view by view, and what repeats came to. */
export function RatesBody({ data: { rates } }: { readonly data: Pick<ReportData, 'rates'> }) {
  return (
    <>
      <p class="says">
        A trial passes when its outcome, its constraints and its effects pass. Intervals are of 95%: Wilson's where each case was run once, clustered by case
        where cases repeat.
      </p>
      <Figure
        chart={intervalChart(
          'Passed',
          rates.map((one) => rowOf(one, one.views.pass)),
        )}
      />
      <Figure
        chart={intervalChart(
          'Trials with a forbidden effect',
          rates.map((one) => rowOf(one, one.forbidden)),
        )}
      />
      <DataTable
        caption="By view. Beside trials without a result: what had passed if all of them had failed, or passed."
        head={['agent', 'passed', 'outcome', 'constraints', 'effects', 'with a forbidden effect', 'no result']}
        rows={rates.map(({ agent, views, forbidden, missing, open, bounds, undetermined }) => [
          <Name text={agent} />,
          ...[views.pass, views.outcome, views.constraints, views.effects, forbidden].map(cell),
          `${missing}${missing > 0 ? `: passed ${intervalText(bounds)}` : ''}${open > 0 ? `, ${open} not done` : ''}${undetermined > 0 ? `, ${undetermined} undetermined` : ''}`,
        ])}
      />
      <Repeats
        title="Every one of k passes (pass^k)"
        says="How likely it is that k repetitions of a case all pass: what somebody meets who relies on it."
        rates={rates}
        of={({ allOf }) => allOf}
      />
      <Repeats
        title="At least one of k passes (pass@k)"
        says="How likely it is that at least one of k repetitions passes: what could be had by choosing the right one, and no measure of trust."
        rates={rates}
        of={({ anyOf }) => anyOf}
      />
    </>
  );
}

/** By fault schedule and agent. Null with one schedule. */
export function conditionalBody({ conditional, schedules, facts }: Pick<ReportData, 'conditional' | 'schedules' | 'facts'>) {
  const [name] = new Set(facts.map(({ schedule }) => schedule));
  if (conditional.length === 0 && schedules.length === 0) return null;
  const neverFired = schedules.filter(({ rules }) => rules.every(({ fired }) => fired === 0));
  return (
    <>
      <p class="says">
        Conditional results: how agents do when these faults are injected. They say nothing about how often such faults happen, and must not be averaged into
        one rate.
      </p>
      {conditional.length === 0 && name !== undefined && (
        <p class="says">
          All trials ran under <Name text={name} />.
        </p>
      )}
      {conditional.length > 0 && (
        <>
          <Figure
            chart={intervalChart(
              'Passed',
              conditional.map((one) => rowOf(one, one.views.pass)),
            )}
          />
          <DataTable
            caption="By fault schedule and agent"
            head={['under', 'agent', 'passed', 'with a forbidden effect', 'no result']}
            rows={conditional
              .slice(0, LISTED)
              .map((one) => [<Name text={one.schedule ?? 'all'} />, <Name text={one.agent} />, cell(one.views.pass), cell(one.forbidden), String(one.missing)])}
            more={{ rows: conditional.length - LISTED, where: 'in report.json' }}
          />
        </>
      )}
      {schedules.length > 0 && (
        <DataTable
          caption="How often each rule fired"
          head={['schedule', 'rule', 'fired', 'in trials', 'of trials']}
          numbers={[2, 3, 4]}
          rows={schedules
            .slice(0, LISTED)
            .flatMap(({ schedule, rules, trials }) =>
              rules.map(({ rule, fired, atLeast, inTrials }) => [
                <Name text={schedule} />,
                <Name text={rule} max={200} />,
                fired === 0 ? <span class="badge wait">never</span> : `${atLeast ? 'at least ' : ''}${fired}`,
                String(inTrials),
                String(trials),
              ]),
            )}
        />
      )}
      {neverFired.length > 0 && (
        <p class="says">
          Nothing was tested by{' '}
          {neverFired.map(({ schedule }, at) => (
            <>
              {at > 0 && ', '}
              <Name text={schedule} />
            </>
          ))}
          : no rule of it ever fired.
        </p>
      )}
    </>
  );
}

const LISTED = 100;

function rowOf({ agent, schedule }: AgentRates, { rate, interval, count, of }: Rate): IntervalRow {
  return { group: schedule === 'none' ? 'no faults' : schedule, name: agent, rate, interval, count, of };
}

function cell({ count, of, rate, interval }: Rate) {
  return rate === null ? (
    'nothing scored'
  ) : (
    <>
      <span class="whole">{`${count}/${of} = ${percent(rate)}`}</span> <span class="whole dim">({intervalText(interval)})</span>
    </>
  );
}

function Repeats({
  title,
  says,
  rates,
  of,
}: {
  readonly title: string;
  readonly says: string;
  readonly rates: readonly AgentRates[];
  readonly of: (rates: AgentRates) => readonly RepeatRate[];
}) {
  const rows = rates.flatMap((one) => of(one).map((repeat) => ({ agent: one.agent, ...repeat })));
  // With one repetition both are the rate itself.
  if (rows.every(({ k }) => k < 2)) return null;
  return (
    <>
      <h3>{title}</h3>
      <p class="says">{says}</p>
      <DataTable
        caption={title}
        head={['agent', 'k', 'share', '95% interval', 'cases by schedule', 'with fewer trials, left out']}
        numbers={[1, 2, 3, 4, 5]}
        rows={rows.map(({ agent, k, rate, interval, cases, leftOut }) => [
          <Name text={agent} />,
          String(k),
          percent(rate),
          intervalText(interval),
          String(cases),
          String(leftOut),
        ])}
      />
    </>
  );
}
