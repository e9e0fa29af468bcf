import type { ReportData } from '../../data.ts';
import { gateNotes, gateRows } from '../../gates/gate-rows.ts';
import { DataTable } from '../table.tsx';
import { Name, Says } from '../words.tsx';

const LISTED = 100;

const RESULTS = {
  met: { text: 'met', look: 'good' },
  not_met: { text: 'not met', look: 'bad' },
  not_judged: { text: 'not judged', look: 'wait' },
} as const;

/** What the batch had to reach, rule by rule. */
export function GatesBody({ data }: { readonly data: ReportData }) {
  const rows = gateRows(data);
  const notes = gateNotes(data);
  return (
    <>
      <p class="says">
        Each has to hold for each agent. Judged by the point is the figure itself, judged by a bound an end of its 95% interval: few trials can meet the former
        by luck.
      </p>
      <DataTable
        caption="Gates"
        head={['gate', 'agent', 'result', 'judged by', 'figure']}
        sentences={[0, 4]}
        rows={rows.slice(0, LISTED).map(({ gate, agent, asked, by, result, reason }) => [
          <>
            <Name text={gate} />
            <div class="dim">
              <Says text={asked} max={300} />
            </div>
          </>,
          <Name text={agent} />,
          <span class={`badge ${RESULTS[result].look}`}>{RESULTS[result].text}</span>,
          by,
          <Says text={reason} max={400} />,
        ])}
        more={{ rows: rows.length - LISTED, where: 'in report.json' }}
      />
      {notes.length > 0 && (
        <ul class="list">
          {notes.map((note) => (
            <li>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}
