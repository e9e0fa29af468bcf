import type { ReportData } from '../../data.ts';
import { cellState, cellText, matrix } from '../../matrix.ts';
import { DataTable } from '../table.tsx';
import { Badge, Id, Name, Says } from '../words.tsx';

const LISTED = 150;

/** Counts of the batch. */
export function CountsBody({ data: { summary } }: { readonly data: Pick<ReportData, 'summary'> }) {
  const { trials, passed, failed, undetermined, infraErrors, userErrors = 0, cassetteMisses = 0, cancelled } = summary;
  const counts: readonly (readonly [string, number])[] = [
    ['passed', passed],
    ['failed', failed],
    ['undetermined', undetermined],
    ['infrastructure errors', infraErrors],
    ['faults of the simulated user', userErrors],
    ['without a recorded answer', cassetteMisses],
    ['cancelled', cancelled],
    ['all trials', trials],
  ];
  return (
    <>
      <p class="says">
        Infrastructure errors, faults of the simulated user, calls that a recording does not hold, and cancelled trials are neither passed nor failed.
      </p>
      <DataTable caption="Trials" head={['result', 'number']} numbers={[1]} rows={counts.map(([name, count]) => [name, count.toLocaleString('en-US')])} />
    </>
  );
}

/** How each agent did in each case, under each schedule. Null: nothing has ended. */
export function matrixBody({ facts }: Pick<ReportData, 'facts'>) {
  const { head, rows } = matrix(facts);
  const [first] = rows;
  if (first === undefined) return null;
  const names = head.slice(1, first.names.length + MOST_AGENTS);
  return (
    <DataTable
      caption="Cases and agents"
      head={['case', ...names]}
      rows={rows
        .slice(0, LISTED)
        .map(({ names: own, cells }) => [
          ...own.map((name) => <Name text={name} max={80} />),
          ...cells.slice(0, MOST_AGENTS).map((cell) => (cell === null ? '' : <Badge result={cellState(cell)} text={cellText(cell)} />)),
        ])}
      more={{ rows: rows.length - LISTED, where: 'among all trials below' }}
    />
  );
}

const MOST_AGENTS = 8;

/** Cases with mixed results and cases in quarantine. Null: there is neither. */
export function mixedBody({ mixed, quarantined }: Pick<ReportData, 'mixed' | 'quarantined'>) {
  if (mixed.length + quarantined.length === 0) return null;
  return (
    <>
      {mixed.length > 0 && (
        <DataTable
          caption="Cases that one agent passes at times and at times not, and what explains it"
          head={['case', 'agent', 'under', 'passed', 'explained by', 'because', 'one that passed', 'one that did not']}
          sentences={[5]}
          rows={mixed
            .slice(0, LISTED)
            .map((one) => [
              <Name text={one.case} />,
              <Name text={one.agent} />,
              one.schedule === null ? 'all schedules' : <Name text={one.schedule} />,
              `${one.passed} of ${one.scored}`,
              one.explained,
              <Says text={one.because} max={300} />,
              <Id text={one.examples.passed} />,
              <Id text={one.examples.other} />,
            ])}
          more={{ rows: mixed.length - LISTED, where: 'in report.json' }}
        />
      )}
      {quarantined.length > 0 && (
        <DataTable
          caption="In quarantine: run and shown, and gating nothing until the day"
          head={['case', 'passed', 'until', 'owner', 'reason']}
          sentences={[4]}
          rows={quarantined.slice(0, LISTED).map((one) => [
            <Name text={one.case} />,
            `${one.passed} of ${one.trials}`,
            <>
              <Name text={one.until} /> {one.over && <span class="badge bad">over: it counts again</span>}
            </>,
            <Name text={one.owner} />,
            <Says text={one.reason} />,
          ])}
          more={{ rows: quarantined.length - LISTED, where: 'in report.json' }}
        />
      )}
    </>
  );
}
