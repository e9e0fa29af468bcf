import type { Child } from 'hono/jsx';
import { MAX_CONCURRENCY } from '../../../domain/trial.ts';
import type { BatchRow, TrialRow } from '../../../store/store.ts';
import type { TrialCensus, TrialFilter, TrialPage as Trials, TrialStanding } from '../../../store/trial-pages.ts';
import { BatchState } from './batches.tsx';
import { Act, Facts, FormToken, type PageContext, Page } from './layout.tsx';
import { may } from '../access.ts';
import { Pager, Table } from './table.tsx';
import { Foreign, Time } from '../../../report/html/text.tsx';
import { StandingBadge } from './standing.tsx';
import { durationText } from '../../../report/duration-text.ts';

/** Trials on one page of the list. */
export const TRIALS_A_PAGE = 50;

/** A batch with its trials: by how they stand, by ending, by reason. */
export function BatchPage(props: {
  readonly context: PageContext;
  readonly batch: BatchRow;
  readonly census: TrialCensus;
  readonly filter: TrialFilter;
  readonly trials: Trials;
  readonly page: number;
  readonly temporal: string | null;
}) {
  const { context, batch, census, filter, trials, page, temporal } = props;
  const base = `/console/batches/${encodeURIComponent(batch.id)}`;
  return (
    <Page context={context} title={`Batch ${batch.id}`} section="batches" live={3}>
      <p class="crumbs">
        <a href="/console/batches">Batches</a>
      </p>
      <div class="head">
        <h1>
          Batch <span class="id">{batch.id}</span>
        </h1>
        <div id="batch-state" data-live="">
          <BatchState batch={batch} />
        </div>
      </div>
      <BatchActs context={context} batch={batch} base={base} />
      <Facts
        facts={[
          ['Suite', <Foreign text={batch.suite} max={120} />],
          ['Environment', <Foreign text={`${batch.environment.name} ${batch.environment.version}`} max={120} />],
          ['Approvals', batch.options.human ? 'people decide' : "the cases' approvers decide"],
          ['In flight', `at most ${batch.options.concurrency}`],
          ['Started', <Time at={batch.createdAt} />],
          ['Ended', batch.finishedAt === null ? null : <Time at={batch.finishedAt} />],
          ['Temporal', temporal === null ? null : <a href={temporal}>Workflow of the batch</a>],
          ['Audit log', <a href={`/console/audit?target=${encodeURIComponent(batch.id)}`}>What was asked of it</a>],
        ]}
      />
      <section id="census" data-live="" aria-labelledby="census-title">
        <h2 id="census-title">By how they stand</h2>
        <ul class="chips">
          <Chip href={`${base}#trials`} on={isWhole(filter)}>
            all {batch.trials}
          </Chip>
          {census.standings.map(({ standing, trials: count }) => (
            <Chip href={`${base}${queryOf({ standing })}#trials`} on={filter.standing === standing}>
              {STANDINGS[standing]} {count}
            </Chip>
          ))}
        </ul>
        {census.endings.length > 0 && (
          <>
            <h2>By ending</h2>
            <ul class="chips">
              {census.endings.map(({ ending, trials: count }) => (
                <Chip href={`${base}${queryOf({ ending })}#trials`} on={filter.ending === ending}>
                  {ending} {count}
                </Chip>
              ))}
            </ul>
          </>
        )}
        {census.reasons.length > 0 && (
          <>
            <h2>By reason</h2>
            <ol class="reasons">
              {census.reasons.map(({ reason, why, trials: count }) => (
                <li>
                  <span class="count">{count}</span>{' '}
                  <a class="reason" href={`${base}${queryOf({ reason })}#trials`} {...(filter.reason === reason && { 'aria-current': 'true' })}>
                    <Foreign text={why} max={240} />
                  </a>
                </li>
              ))}
            </ol>
          </>
        )}
      </section>
      <section aria-labelledby="trials">
        <h2 id="trials">Trials</h2>
        <form class="filter" method="get" action={`${base}#trials`}>
          {filter.standing && <input type="hidden" name="standing" value={filter.standing} />}
          {filter.ending && <input type="hidden" name="ending" value={filter.ending} />}
          {filter.reason && <input type="hidden" name="reason" value={filter.reason} />}
          <label>
            Case, agent, faults or id <input type="search" name="q" value={filter.text ?? ''} maxlength={100} />
          </label>
          <button type="submit">Filter</button>
          {!isWhole(filter) && (
            <a class="all" href={`${base}#trials`}>
              Show all
            </a>
          )}
        </form>
        <div id="trial-list" data-live="">
          <p class="dim">
            {trials.total === 0
              ? 'No trial fits.'
              : `${trials.total.toLocaleString('en-US')} ${trials.total === 1 ? 'trial' : 'trials'}${isWhole(filter) ? '' : ' fit the filter'}`}
          </p>
          {trials.trials.length > 0 && <TrialTable trials={trials.trials} />}
          <Pager page={page} pages={Math.ceil(trials.total / TRIALS_A_PAGE)} href={(at) => `${base}${queryOf(filter, at)}#trials`} />
        </div>
      </section>
    </Page>
  );
}

function BatchActs({ context, batch, base }: { readonly context: PageContext; readonly batch: BatchRow; readonly base: string }) {
  if (batch.state === 'finished' || batch.state === 'cancelled' || !may(context.visitor, 'operator')) return null;
  const waits = batch.state === 'interrupted' || batch.hold === 'paused';
  return (
    <div class="acts">
      {waits ? (
        <Act context={context} takes="operator" action={`${base}/resume`} text="Resume" />
      ) : (
        <Act context={context} takes="operator" action={`${base}/pause`} text="Pause" quiet />
      )}
      <a class="button danger" href={`${base}/cancel`}>
        Cancel the batch…
      </a>
      {batch.state === 'running' && (
        <form method="post" action={`${base}/concurrency`} class="number">
          <FormToken visitor={context.visitor} />
          <label for="concurrency">Trials in flight</label>
          <input id="concurrency" name="concurrency" type="number" min={1} max={MAX_CONCURRENCY} value={batch.options.concurrency} required />
          <button type="submit" class="quiet">
            Change
          </button>
        </form>
      )}
    </div>
  );
}

function TrialTable({ trials }: { readonly trials: readonly TrialRow[] }) {
  return (
    <Table
      caption="Trials"
      head={['Trial', 'Case', 'Agent', 'Stands', 'Why', 'Took']}
      rows={trials.map((trial) => [
        <a class="id" href={`/console/trials/${encodeURIComponent(trial.id)}`}>
          {trial.id.slice(trial.id.lastIndexOf('-') + 1)}
        </a>,
        <>
          <Foreign text={trial.caseId} max={80} />
          {trial.schedule !== 'none' && (
            <span class="dim">
              {' '}
              with <Foreign text={trial.schedule} max={60} />
            </span>
          )}
          {trial.repetition > 1 && <span class="dim"> no. {trial.repetition}</span>}
        </>,
        <Foreign text={trial.agentName} max={60} />,
        <StandingBadge trial={trial} />,
        trial.summary?.why ? <Foreign text={trial.summary.why} max={160} /> : '',
        trial.summary ? <span class="took">{durationText(trial.summary.durationMs / 1000)}</span> : '',
      ])}
    />
  );
}

function Chip({ href, on, children }: { readonly href: string; readonly on: boolean; readonly children?: Child }) {
  return (
    <li>
      <a class="chip" href={href} {...(on && { 'aria-current': 'true' })}>
        {children}
      </a>
    </li>
  );
}

function isWhole({ standing, ending, reason, text }: TrialFilter): boolean {
  return standing === undefined && ending === undefined && reason === undefined && (text ?? '') === '';
}

/** A filter as a query. */
function queryOf({ standing, ending, reason, text }: TrialFilter, page = 1): string {
  const query = new URLSearchParams();
  if (standing !== undefined) query.set('standing', standing);
  if (ending !== undefined) query.set('ending', ending);
  if (reason !== undefined) query.set('reason', reason);
  if (text !== undefined && text !== '') query.set('q', text);
  if (page > 1) query.set('page', String(page));
  const written = query.toString();
  return written === '' ? '' : `?${written}`;
}

const STANDINGS: { readonly [standing in TrialStanding]: string } = {
  open: 'open',
  pass: 'pass',
  fail: 'fail',
  undetermined: 'undetermined',
  infra_error: 'infra error',
  user_error: 'user error',
  cancelled: 'cancelled',
};
