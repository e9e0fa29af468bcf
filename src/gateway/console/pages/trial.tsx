import type { TrialView } from '../../../client/api.ts';
import type { ModelTotals } from '../../../domain/model.ts';
import type { Message } from '../../../domain/record.ts';
import { durationText } from '../../../report/duration-text.ts';
import { ruleText } from '../../../report/fault-words.ts';
import { costText, latencyText, tokensText } from '../../../report/model-text.ts';
import type { AskedApproval, AttemptRow } from '../../../store/store.ts';
import { may } from '../access.ts';
import type { StoryTicket } from '../../../report/tickets.ts';
import { mailsOf, type Story } from '../story.ts';
import { AskedLine } from './approvals.tsx';
import { Facts, Page, type PageContext } from './layout.tsx';
import { Inbox, Tickets } from './mails.tsx';
import { StandingBadge } from './standing.tsx';
import { Table } from './table.tsx';
import { Foreign, ForeignBlock, ForeignJson, Time } from '../../../report/html/text.tsx';
import { OPERATIONS_A_PAGE, Timeline } from './timeline.tsx';
import { VerdictView } from './verdict.tsx';
import { WhyView, type Why } from './why.tsx';

/** Messages of the conversation that are shown. */
const MOST_MESSAGES = 100;

export interface TrialPageProps {
  readonly context: PageContext;
  readonly view: TrialView;
  /** Attempt that is shown; 0: none has begun. */
  readonly attempt: number;
  /** Null: nothing was recorded, and the world cannot be looked at. */
  readonly story: Story | null;
  readonly tickets: readonly StoryTicket[];
  /** What of it waits for people. */
  readonly asked: readonly AskedApproval[];
  /** Why it stands where it stands; null: it is over, or nobody can tell. */
  readonly why: Why | null;
  /** Operations that are left out before the first one shown. */
  readonly from: number;
  readonly temporal: string | null;
}

/** One trial, from why it stands where it stands to every operation. */
export function TrialPage(props: TrialPageProps) {
  const { context, view, attempt, story, tickets, asked, why, from, temporal } = props;
  const { trial, kase } = view;
  const base = `/console/trials/${encodeURIComponent(trial.id)}`;
  const mails = story ? mailsOf(story) : [];
  const runs = trial.phase !== 'done';
  return (
    <Page context={context} title={`Trial ${trial.id}`} section="batches" live={runs ? 3 : 10}>
      <p class="crumbs">
        <a href="/console/batches">Batches</a> / <a href={`/console/batches/${encodeURIComponent(trial.batch)}`}>{trial.batch}</a>
      </p>
      <div class="head">
        <h1>
          <Foreign text={trial.caseId} max={120} /> by <Foreign text={trial.agentName} max={80} />
        </h1>
        <div id="trial-state" data-live="">
          <StandingBadge trial={trial} />
        </div>
      </div>
      <p class="lead">
        <Foreign text={kase.title} max={300} />
      </p>
      <TrialActs context={context} runs={runs} base={base} />
      <div id="now" data-live="">
        {asked.length > 0 && (
          <section aria-labelledby="asked-title" class="callout">
            <h2 id="asked-title">Waits for approval</h2>
            <ul class="bare">
              {asked.map((one) => (
                <li>
                  <AskedLine asked={one} />
                </li>
              ))}
            </ul>
          </section>
        )}
        {why && <WhyView why={why} />}
        {trial.summary?.why && (
          <section aria-labelledby="came-title">
            <h2 id="came-title">Why it came to this</h2>
            <p>
              <Foreign text={trial.summary.why} max={2_000} />
            </p>
          </section>
        )}
      </div>
      <section aria-labelledby="facts-title" id="facts" data-live="">
        <h2 id="facts-title" class="hidden">
          Facts
        </h2>
        <TrialFacts view={view} attempt={attempt} temporal={temporal} />
      </section>
      <section aria-labelledby="verdict-title" id="verdict" data-live="">
        <h2 id="verdict-title">Verdict</h2>
        <VerdictView verdicts={view.verdicts} runs={runs} />
      </section>
      <section aria-labelledby="said-title" id="said" data-live="">
        <h2 id="said-title">Conversation</h2>
        <Conversation messages={view.messages} />
      </section>
      <section aria-labelledby="timeline-title" id="timeline" data-live="">
        <h2 id="timeline-title">Operations</h2>
        {story?.live && <p class="dim">As the world shows them now: the trial has not ended.</p>}
        {view.schedule && (
          <ul class="marks dim">
            {view.schedule.rules.map((rule, at) => (
              <li>
                rule {at + 1}: <Foreign text={ruleText(rule)} max={400} />
              </li>
            ))}
          </ul>
        )}
        {story ? <Timeline story={story} from={from} /> : <p class="empty">Nothing was recorded, and there is no world to look at.</p>}
        {story && story.operations.length > OPERATIONS_A_PAGE && (
          <nav class="pager" aria-label="Operations">
            {from > 0 && <a href={`${base}?attempt=${attempt}&from=${Math.max(0, from - OPERATIONS_A_PAGE)}#timeline`}>Earlier</a>}
            <span>
              {from + 1} to {Math.min(story.operations.length, from + OPERATIONS_A_PAGE)} of {story.operations.length}
            </span>
            {from + OPERATIONS_A_PAGE < story.operations.length && <a href={`${base}?attempt=${attempt}&from=${from + OPERATIONS_A_PAGE}#timeline`}>Later</a>}
          </nav>
        )}
      </section>
      <section aria-labelledby="inbox-title" id="inbox" data-live="">
        <h2 id="inbox-title">Inbox</h2>
        {mails.length === 0 ? <p class="empty">No mail was sent.</p> : <Inbox mails={mails} />}
      </section>
      <section aria-labelledby="tickets-title" id="tickets" data-live="">
        <h2 id="tickets-title">Tickets</h2>
        {tickets.length === 0 ? <p class="empty">No ticket was made or changed.</p> : <Tickets tickets={tickets} />}
      </section>
      <section aria-labelledby="attempts-title" id="attempts" data-live="">
        <h2 id="attempts-title">Attempts</h2>
        {view.attempts.length === 0 ? <p class="empty">None has begun.</p> : <Attempts attempts={view.attempts} shown={attempt} base={base} />}
      </section>
    </Page>
  );
}

function TrialActs({ context, runs, base }: { readonly context: PageContext; readonly runs: boolean; readonly base: string }) {
  if (!may(context.visitor, 'operator')) return null;
  return (
    <div class="acts">
      <a class="button quiet" href={`${base}/requeue`}>
        Run once more…
      </a>
      {runs && (
        <a class="button danger" href={`${base}/cancel`}>
          Cancel the trial…
        </a>
      )}
    </div>
  );
}

function TrialFacts({ view, attempt, temporal }: { readonly view: TrialView; readonly attempt: number; readonly temporal: string | null }) {
  const { trial, kase, record, attempts } = view;
  const { summary } = trial;
  const shown = attempts.find((one) => one.attempt === attempt);
  const problem = shown?.problem ?? record?.problem ?? null;
  return (
    <Facts
      facts={[
        ['Trial', <span class="id">{trial.id}</span>],
        ['Ending', summary ? `${summary.ending}, ${summary.calls} calls, ${durationText(summary.durationMs / 1000)}` : `in phase ${trial.phase}`],
        ['Problem', problem ? <ForeignBlock text={`${problem.code}: ${problem.message}`} max={4_000} /> : null],
        [
          'Faults',
          trial.schedule === 'none' ? 'none' : <Foreign text={view.schedule ? `${trial.schedule}: ${view.schedule.title}` : trial.schedule} max={200} />,
        ],
        ['User', <Foreign text={`${kase.permission.user}, role ${kase.permission.role}`} max={200} />],
        ['Cost', <Cost totals={summary?.models?.agent ?? null} />],
        ['Cost of the user', summary?.models?.user ? <Cost totals={summary.models.user} /> : null],
        ['Disturbed', summary?.disturbed ? 'yes: the test bed had to recover an operation' : null],
        ['Snapshot', summary?.snapshot ? <span class="id">{summary.snapshot}</span> : null],
        ['World', shown?.world ? <Foreign text={`${shown.world.id} on ${shown.world.host}`} max={120} /> : null],
        ['Temporal', temporal === null ? null : <a href={temporal}>Workflow of the trial</a>],
        ['Audit log', <a href={`/console/audit?target=${encodeURIComponent(trial.id)}`}>What was asked of it</a>],
      ]}
    />
  );
}

function Cost({ totals }: { readonly totals: ModelTotals | null }) {
  return totals === null ? 'not measured' : `${costText(totals)}: ${totals.calls} calls, ${tokensText(totals)}, ${latencyText(totals)} a call`;
}

function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  if (messages.length === 0) return <p class="empty">Nothing was said yet.</p>;
  return (
    <ol class="chat">
      {messages.slice(0, MOST_MESSAGES).map((message) => (
        <li class={message.from}>
          <p class="from">{message.actor === undefined ? message.from : <Foreign text={message.actor} max={80} />}</p>
          <ForeignBlock text={message.text} max={8_000} />
          {message.data && (
            <details>
              <summary>Structured answer</summary>
              <ForeignJson value={message.data} max={8_000} />
            </details>
          )}
        </li>
      ))}
      {messages.length > MOST_MESSAGES && <li class="dim">and {messages.length - MOST_MESSAGES} more</li>}
    </ol>
  );
}

function Attempts({ attempts, shown, base }: { readonly attempts: readonly AttemptRow[]; readonly shown: number; readonly base: string }) {
  return (
    <Table
      caption="Attempts"
      head={['Attempt', 'Ending', 'From', 'To', 'Problem']}
      rows={attempts.map((one) => [
        one.attempt === shown ? <strong>{one.attempt}, shown here</strong> : <a href={`${base}?attempt=${one.attempt}`}>{one.attempt}</a>,
        `${one.ending ?? 'open'}${one.counts ? ', counts' : ''}`,
        <Time at={one.startedAt} />,
        one.endedAt === null ? 'now' : <Time at={one.endedAt} />,
        one.problem ? <Foreign text={`${one.problem.code}: ${one.problem.message.split('\n', 1).join('')}`} max={300} /> : '',
      ])}
    />
  );
}
