import type { AuditEntry, AuditOutcome } from '../../../store/audit.ts';
import { Badge, Page, type PageContext, type Tone } from './layout.tsx';
import { Table } from './table.tsx';
import { Foreign, Time } from '../../../report/html/text.tsx';

/** Lines on a page of the log. */
export const ENTRIES_A_PAGE = 100;

/** What was asked, the newest first. */
export function AuditPage({
  context,
  entries,
  target,
}: {
  readonly context: PageContext;
  readonly entries: readonly AuditEntry[];
  readonly target: string | null;
}) {
  const oldest = entries.at(-1);
  const of = target === null ? '' : `&target=${encodeURIComponent(target)}`;
  return (
    <Page context={context} title="Audit log" section="audit">
      <h1>Audit log</h1>
      {target !== null && (
        <p>
          Of <Foreign text={target} max={120} /> only. <a href="/console/audit">Show all</a>
        </p>
      )}
      {entries.length === 0 ? (
        <p class="empty">Nothing was asked yet.</p>
      ) : (
        <Table
          caption="Requests, the newest first"
          head={['When', 'Who', 'What', 'Outcome', 'Why']}
          rows={entries.map((entry) => [
            <Time at={entry.at} />,
            <>
              <Foreign text={entry.by} max={120} /> <span class="dim">{entry.roles === null ? entry.via : `${entry.via}, ${entry.roles.join(', ')}`}</span>
            </>,
            <>
              <Foreign text={entry.action} max={60} /> <Foreign text={entry.target} max={120} />
            </>,
            <Badge tone={TONES[entry.outcome]}>{entry.outcome}</Badge>,
            <Foreign text={[entry.detail, entry.problem].filter((part) => part !== null).join(': ')} max={600} />,
          ])}
        />
      )}
      {oldest && entries.length === ENTRIES_A_PAGE && (
        <nav class="pager" aria-label="Pages">
          <a href={`/console/audit?before=${oldest.id}${of}`} rel="next">
            Earlier
          </a>
        </nav>
      )}
    </Page>
  );
}

const TONES: { readonly [outcome in AuditOutcome]: Tone } = { asked: 'busy', done: 'good', refused: 'wait', failed: 'bad' };
