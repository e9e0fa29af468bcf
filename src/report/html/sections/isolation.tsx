import type { ReportData } from '../../data.ts';
import { isolationLines } from '../../figures/isolation.ts';
import { DataTable } from '../table.tsx';
import { Says } from '../words.tsx';

/** What leaked out of trials and what came into them; zero is told as zero. */
export function IsolationBody({ data: { isolation } }: { readonly data: Pick<ReportData, 'isolation'> }) {
  return (
    <DataTable
      caption="Whether each trial had its world to itself"
      head={['what', 'number', 'means']}
      numbers={[1]}
      sentences={[2]}
      rows={isolationLines(isolation).map(({ what, count, says }) => [
        what,
        Number(count) > 0 ? <span class="badge bad">{count}</span> : count,
        <Says text={says} />,
      ])}
    />
  );
}
