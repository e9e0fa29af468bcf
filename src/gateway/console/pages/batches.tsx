import type { Outcomes, RunningRow } from '../../../client/api.ts';
import { durationText } from '../../../report/duration-text.ts';
import type { BatchRow } from '../../../store/store.ts';
import { Badge, type PageContext, Page, type Tone } from './layout.tsx';
import { Table } from './table.tsx';
import { Foreign, Time } from '../../../report/html/text.tsx';
import { Progress } from './progress.tsx';

/** The first page: what runs now, what it waits for, and the newest batches. */
export function BatchesPage({
  context,
  batches,
  outcomes,
  running,
}: {
  readonly context: PageContext;
  readonly batches: readonly BatchRow[];
  readonly outcomes: ReadonlyMap<string, Outcomes>;
  readonly running: readonly RunningRow[];
}) {
  return (
    <Page context={context} title="Batches" section="batches" live={3}>
      <h1>Batches</h1>
      <section id="running" data-live="" aria-labelledby="running-title">
        <h2 id="running-title">Under way</h2>
        {running.length === 0 ? <p class="empty">No trial is under way.</p> : <RunningTable running={running} />}
      </section>
      <section id="batches" data-live="" aria-labelledby="batches-title">
        <h2 id="batches-title">Newest batches</h2>
        {batches.length === 0 ? (
          <p class="empty">
            There is no batch yet. <code>trialbed run support-desk --agent reference</code> makes one.
          </p>
        ) : (
          <Table
            caption="Newest batches"
            head={['Batch', 'Suite', 'State', 'Results', 'Done', 'Started']}
            rows={batches.map((batch) => [
              <a class="id" href={`/console/batches/${encodeURIComponent(batch.id)}`}>
                {batch.id}
              </a>,
              <Foreign text={batch.suite} max={80} />,
              <BatchState batch={batch} />,
              <Progress outcomes={outcomes.get(batch.id) ?? null} trials={batch.trials} />,
              `${batch.done} of ${batch.trials}`,
              <Time at={batch.createdAt} />,
            ])}
          />
        )}
      </section>
    </Page>
  );
}

/** Trials under way, those that have run for longest first. */
export function RunningTable({ running }: { readonly running: readonly RunningRow[] }) {
  return (
    <Table
      caption="Trials under way, those that have run for longest first"
      head={['Trial', 'Case', 'Agent', 'Waits for', 'For']}
      rows={running.map((row) => [
        <a class="id" href={`/console/trials/${encodeURIComponent(row.trial)}`}>
          {row.trial}
        </a>,
        <>
          <Foreign text={row.case} max={80} />
          {row.schedule !== 'none' && (
            <span class="dim">
              {' '}
              with <Foreign text={row.schedule} max={60} />
            </span>
          )}
        </>,
        <Foreign text={row.agent} max={60} />,
        row.waits === null ? <Badge tone="busy">{row.phase}</Badge> : <Badge tone="wait">{WAITS[row.waits]}</Badge>,
        <span class="took">{durationText(row.seconds)}</span>,
      ])}
    />
  );
}

/** How a batch stands, with what was asked of it. */
export function BatchState({ batch }: { readonly batch: Pick<BatchRow, 'state' | 'hold'> }) {
  const word = batch.state === 'running' && batch.hold !== null ? batch.hold : batch.state;
  return <Badge tone={TONES[word] ?? 'plain'}>{word}</Badge>;
}

const TONES: { readonly [word: string]: Tone } = { running: 'busy', paused: 'wait', cancelling: 'wait', interrupted: 'wait' };

const WAITS: { readonly [why in NonNullable<RunningRow['waits']>]: string } = {
  turn: 'its turn',
  paused: 'its batch to be resumed',
  launcher: 'somebody to launch it',
  worker: 'a worker',
  world: 'a world',
  approval: 'an approval',
  model: 'the rate limit of a model',
  retry: 'its next attempt',
};
