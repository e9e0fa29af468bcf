import { Figure } from '../html/figure.tsx';
import { DataTable } from '../html/table.tsx';
import { Foreign } from '../html/text.tsx';
import type { Comparison } from './comparison.ts';
import { gainText } from './comparison-markdown.ts';
import { gainCharts } from './gain-charts.ts';
import { amountTexts, noiseSentences, sensitivitySentences } from './sentences.ts';
import { namesOf, SHOWN_TEXTS, sideText } from './wording.ts';

/** Gains over all schedules and under each, as charts and as a table. */
export function Schedules({ comparison }: { readonly comparison: Comparison }) {
  return (
    <>
      <p class="dim says">
        Gains of <Foreign text={namesOf(comparison).b} max={120} /> in points of a hundred, above zero where it is better. What is shown under one schedule
        holds under that one only; intervals are widened for the number of schedules.
      </p>
      {gainCharts(comparison).map((chart) => (
        <Figure chart={chart} />
      ))}
      <DataTable
        caption="Figures by fault schedule"
        head={['schedule', 'trials', 'better', 'worse', 'safer', 'more useful']}
        numbers={[1, 2, 3]}
        rows={comparison.schedules.slice(0, MOST_ROWS).map(({ schedule, trials, better, worse, safer, useful, neverFired }) => [
          <>
            <Foreign text={schedule} max={120} />
            {neverFired && <span class="tag">never fired</span>}
          </>,
          String(trials),
          String(better),
          String(worse),
          `${SHOWN_TEXTS[safer.answer]}, ${gainText(safer)}`,
          `${SHOWN_TEXTS[useful.answer]}, ${gainText(useful)}`,
        ])}
        more={{ rows: comparison.schedules.length - MOST_ROWS, where: 'in the JSON' }}
      />
    </>
  );
}

const MOST_ROWS = 200;

/** Noise, what a comparison of this size can show, and mean amounts. */
export function Limits({ comparison }: { readonly comparison: Comparison }) {
  const names = namesOf(comparison);
  return (
    <>
      <ul class="list">
        {[...noiseSentences(comparison), ...sensitivitySentences(comparison)].map((line) => (
          <li>
            <Foreign text={line} />
          </li>
        ))}
      </ul>
      {comparison.amounts.length > 0 && (
        <DataTable
          caption="Amounts, the mean of a trial"
          head={['amount', names.a, names.b, 'difference', 'interval']}
          numbers={[1, 2, 3]}
          rows={comparison.amounts.map((amount) => [<Foreign text={amount.name} max={60} />, ...amountTexts(amount)])}
        />
      )}
    </>
  );
}

/** Batches, agents and generations of both sides. */
export function Sides({ comparison }: { readonly comparison: Comparison }) {
  return (
    <DataTable
      caption="What was compared"
      head={['batch and agent', "agent's hash", 'generation of the environment', 'trials', 'matched']}
      numbers={[3, 4]}
      rows={[comparison.a, comparison.b].map((side) => [
        <Foreign text={sideText(side)} max={160} />,
        side.agentHashes.map((hash) => hash.slice(0, 12)).join(', '),
        side.generations.map((generation) => generation.slice(0, 12)).join(', '),
        String(side.trials),
        String(side.matched),
      ])}
    />
  );
}
