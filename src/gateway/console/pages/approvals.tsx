import type { JsonObject } from '../../../domain/json.ts';
import type { PreviewRows } from '../../../domain/approval.ts';
import { approvalEndText } from '../../../report/approval-words.ts';
import { durationText } from '../../../report/duration-text.ts';
import type { AskedApproval } from '../../../store/store.ts';
import { may } from '../access.ts';
import { Facts, FormToken, Page, type PageContext } from './layout.tsx';
import { Table } from './table.tsx';
import { Foreign, ForeignJson, ForeignValue, Time } from '../../../report/html/text.tsx';

/** Characters of the arguments that the page of a request shows: what is longer is told and can be read whole elsewhere. */
const MAX_ARGUMENTS = 60_000;
/** Rows and columns of one table that are shown. */
const MOST_ROWS = 50;
const MOST_COLUMNS = 24;
/** Requests on the page. */
const MOST_REQUESTS = 200;

/** What waits for people, the oldest first. */
export function ApprovalsPage({ context, asked, now }: { readonly context: PageContext; readonly asked: readonly AskedApproval[]; readonly now: Date }) {
  return (
    <Page context={context} title="Approvals" section="approvals" live={3}>
      <h1>Approvals</h1>
      <div id="asked" data-live="">
        {asked.length === 0 ? (
          <p class="empty">
            Nothing waits for an approval. Batches that run with <code>--human</code> ask here.
          </p>
        ) : (
          <Table
            caption="Requests that wait, the oldest first"
            head={['Request', 'Case', 'Arguments', 'Time left']}
            rows={asked.slice(0, MOST_REQUESTS).map((one) => [
              <RequestLink asked={one} />,
              <>
                <Foreign text={one.case} max={80} /> by <Foreign text={one.agent} max={60} />
              </>,
              <ForeignValue value={one.approval.args} max={160} />,
              <TimeLeft asked={one} now={now} />,
            ])}
          />
        )}
        {asked.length > MOST_REQUESTS && <p class="dim">and {asked.length - MOST_REQUESTS} more</p>}
      </div>
    </Page>
  );
}

/** One request: exactly what an approval would be bound to, and the decision. */
export function ApprovalPage({ context, asked, now }: { readonly context: PageContext; readonly asked: AskedApproval; readonly now: Date }) {
  const { approval } = asked;
  const base = hrefOf(asked);
  const whole = JSON.stringify(approval.args, null, 2).length;
  return (
    <Page context={context} title={`Approval ${asked.id}`} section="approvals" live={5}>
      <p class="crumbs">
        <a href="/console/approvals">Approvals</a>
      </p>
      <h1>
        <Foreign text={approval.tool} max={120} />
      </h1>
      <section id="stands" data-live="" aria-label="How it stands">
        <Facts
          facts={[
            ['Asked by', <Foreign text={`${asked.agent} in case ${asked.case}`} max={240} />],
            ['Trial', <a href={`/console/trials/${encodeURIComponent(asked.trial)}`}>{asked.trial}</a>],
            ['Operation', <Foreign text={asked.operation} max={80} />],
            ['Since', <Foreign text={`${approval.rule} need one`} max={240} />],
            ['Asked', <Time at={approval.requestedAt} />],
            ['Time left', approval.end ? null : <TimeLeft asked={asked} now={now} />],
            ['Decision', approval.end ? <Foreign text={approvalEndText(approval.end)} max={800} /> : 'none yet'],
            ['Bound to', <span class="id">{approval.digest}</span>],
          ]}
        />
      </section>
      <section aria-labelledby="args-title">
        <h2 id="args-title">Arguments, exactly</h2>
        {whole > MAX_ARGUMENTS && (
          <p class="notice refused">
            These arguments are longer than a page: only the beginning is shown.{' '}
            <a href={`${base}/arguments`}>Read all {whole.toLocaleString('en-US')} characters</a> before you approve.
          </p>
        )}
        <ForeignJson value={approval.args} max={MAX_ARGUMENTS} label="Arguments" />
      </section>
      <section aria-labelledby="rows-title">
        <h2 id="rows-title">Rows that it concerns, as they stand</h2>
        {approval.rows.length === 0 ? (
          <p class="empty">The tool names none.</p>
        ) : (
          <>
            <p class="dim">The approval holds for these rows as they are here: where any of them has changed when the call is sent, nothing is done.</p>
            {approval.rows.map((part) => (
              <Rows part={part} />
            ))}
          </>
        )}
      </section>
      {approval.end === null && <Decide context={context} asked={asked} />}
    </Page>
  );
}

/** A request in a line, with the link to decide. */
export function AskedLine({ asked }: { readonly asked: AskedApproval }) {
  return (
    <>
      <RequestLink asked={asked} /> <ForeignValue value={asked.approval.args} max={160} />{' '}
      <span class="dim">
        expires <Time at={asked.approval.expiresAt} />
      </span>
    </>
  );
}

function RequestLink({ asked }: { readonly asked: AskedApproval }) {
  return (
    <a href={hrefOf(asked)}>
      <Foreign text={asked.approval.tool} max={80} /> <span class="id">{asked.id}</span>
    </a>
  );
}

function Decide({ context, asked }: { readonly context: PageContext; readonly asked: AskedApproval }) {
  if (!may(context.visitor, 'approver')) return <p class="notice">You may read this request. To decide it takes the role approver.</p>;
  return (
    <section aria-labelledby="decide-title" class="callout">
      <h2 id="decide-title">Decide</h2>
      <form method="post" action={hrefOf(asked)} class="decide">
        <FormToken visitor={context.visitor} />
        {/* What was shown is what is approved: another content under the same id is refused. */}
        <input type="hidden" name="digest" value={asked.approval.digest} />
        <label for="reason">Reason</label>
        <textarea id="reason" name="reason" rows={2} maxlength={500} aria-describedby="reason-note"></textarea>
        <p id="reason-note" class="dim">
          It stands in the record. Whoever denies has to give one, and the agent is told it.
        </p>
        <div class="acts">
          <button type="submit" name="decision" value="approve">
            Approve
          </button>
          <button type="submit" name="decision" value="deny" class="danger">
            Deny
          </button>
        </div>
      </form>
    </section>
  );
}

function Rows({ part }: { readonly part: PreviewRows }) {
  const columns = [...new Set(part.rows.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
  return (
    <div class="rows">
      <h3>
        <Foreign text={part.table} max={80} /> with <ForeignValue value={part.where} max={200} />
      </h3>
      {part.rows.length === 0 ? <p class="empty">There is no such row.</p> : part.rows.slice(0, MOST_ROWS).map((row) => <Row row={row} columns={columns} />)}
      {part.rows.length > MOST_ROWS && (
        <p class="dim">
          and {part.rows.length - MOST_ROWS} more; <code>trialbed approvals --json</code> shows all
        </p>
      )}
    </div>
  );
}

function Row({ row, columns }: { readonly row: JsonObject; readonly columns: readonly string[] }) {
  return (
    <dl class="facts row">
      {columns.map((column) => (
        <div>
          <dt>
            <Foreign text={column} max={80} />
          </dt>
          <dd>
            <ForeignValue value={row[column] ?? null} max={1_000} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function TimeLeft({ asked, now }: { readonly asked: AskedApproval; readonly now: Date }) {
  const seconds = (Date.parse(asked.approval.expiresAt) - now.getTime()) / 1000;
  return (
    <>
      {seconds > 0 ? durationText(seconds) : 'none'}{' '}
      <span class="dim">
        until <Time at={asked.approval.expiresAt} />
      </span>
    </>
  );
}

function hrefOf({ id }: Pick<AskedApproval, 'id'>): string {
  return `/console/approvals/${encodeURIComponent(id)}`;
}
