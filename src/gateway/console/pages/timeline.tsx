import type { Effect, RowEffect } from '../../../domain/effect.ts';
import type { InjectedFault } from '../../../domain/fault.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { approvalEndText } from '../../../report/approval-words.ts';
import type { Story, StoryOperation } from '../story.ts';
import { Badge, type Tone } from './layout.tsx';
import { Foreign, ForeignJson, ForeignValue, Time } from '../../../report/html/text.tsx';

/** Operations on one page of the timeline. */
export const OPERATIONS_A_PAGE = 100;
/** Effects of one operation that are shown. */
const MOST_EFFECTS = 30;

/** What the agent did, in order, with what each call caused and which fault it met. */
export function Timeline({ story, from }: { readonly story: Story; readonly from: number }) {
  const shown = story.operations.slice(from, from + OPERATIONS_A_PAGE);
  const { effects, faults } = story.rest;
  return (
    <>
      {story.operations.length === 0 && <p class="empty">{story.live ? 'No operation yet.' : 'The agent called no tool.'}</p>}
      <ol class="timeline" start={from + 1}>
        {shown.map((operation) => (
          <li id={`operation-${operation.seq}`}>
            <Operation operation={operation} />
          </li>
        ))}
      </ol>
      {faults.length > 0 && (
        <>
          <h3>Faults without an operation</h3>
          <Faults faults={faults} />
        </>
      )}
      {effects.length > 0 && (
        <>
          <h3>Effects without an operation</h3>
          <Effects effects={effects} />
        </>
      )}
    </>
  );
}

function Operation({ operation: o }: { readonly operation: StoryOperation }) {
  return (
    <article aria-label={`Operation ${o.seq}`}>
      <header>
        <span class="seq">{o.seq}</span> <strong>{<Foreign text={o.tool} max={120} />}</strong>{' '}
        <Badge tone={TONES[o.state] ?? 'plain'}>{o.state.replaceAll('_', ' ')}</Badge>
        {o.known !== null && <Badge tone="wait">systems of record: {o.known}</Badge>}
        <span class="dim">
          {o.id !== `op-${o.seq}` && (
            <>
              {' '}
              <Foreign text={o.id} max={80} />
            </>
          )}
          {o.actor !== null && (
            <>
              {' '}
              by <Foreign text={o.actor} max={80} />
            </>
          )}
          {o.durationMs !== null && ` ${Math.round(o.durationMs)} ms`} <Time at={o.at} />
        </span>
      </header>
      {o.problem && (
        <p class="problem">
          <Foreign text={`${o.problem.code}: ${o.problem.message}`} max={600} />
        </p>
      )}
      {o.detail !== null && (
        <p class="dim">
          <Foreign text={o.detail} max={1_000} />
        </p>
      )}
      {o.notes.map((note) => (
        <p class="dim">
          <Foreign text={note} max={300} />
        </p>
      ))}
      {o.approval && (
        <p>
          Approval, since <Foreign text={o.approval.rule} max={200} /> need one: <Foreign text={approvalEndText(o.approval.end)} max={600} />
        </p>
      )}
      <Faults faults={o.faults} />
      <Effects effects={o.effects} />
      <details>
        <summary>Arguments{o.result === null ? '' : ' and result'}</summary>
        {o.key !== null && (
          <p class="dim">
            key <Foreign text={o.key} max={200} />
          </p>
        )}
        <ForeignJson value={o.args} max={4_000} label={`Arguments of operation ${o.seq}`} />
        {o.result !== null && <ForeignJson value={o.result} max={4_000} label={`Result of operation ${o.seq}`} />}
      </details>
    </article>
  );
}

function Faults({ faults }: { readonly faults: readonly InjectedFault[] }) {
  if (faults.length === 0) return null;
  return (
    <ul class="marks">
      {faults.map(({ kind, rule, detail }) => (
        <li class="fault">
          <Badge tone="wait">fault</Badge> {kind} (rule {rule + 1}): <Foreign text={detail} max={400} />
        </li>
      ))}
    </ul>
  );
}

function Effects({ effects }: { readonly effects: readonly Effect[] }) {
  if (effects.length === 0) return null;
  return (
    <ul class="marks">
      {effects.slice(0, MOST_EFFECTS).map((effect) => (
        <li>
          <Badge tone="plain">{effect.byFault === undefined ? 'effect' : 'by somebody else'}</Badge>{' '}
          {effect.kind === 'row' ? (
            <RowChange effect={effect} />
          ) : (
            <>mail to {<Foreign text={effect.recipients.map(({ address }) => address).join(', ')} max={200} />}</>
          )}
        </li>
      ))}
      {effects.length > MOST_EFFECTS && <li class="dim">and {effects.length - MOST_EFFECTS} more</li>}
    </ul>
  );
}

/** One change of a row: for an update only the columns that differ. */
export function RowChange({ effect }: { readonly effect: RowEffect }) {
  const { change, table, key, before, after } = effect;
  return (
    <>
      {change} <Foreign text={table} max={80} /> <ForeignValue value={Object.values(key).join(', ')} max={80} />:{' '}
      {columnsOf(before, after).map(([column, was, now], at) => (
        <>
          {at > 0 && ', '}
          <span class="dim">
            <Foreign text={column} max={80} />
          </span>{' '}
          {was !== undefined && (
            <>
              <ForeignValue value={was} max={120} /> →{' '}
            </>
          )}
          <ForeignValue value={now} max={240} />
        </>
      ))}
    </>
  );
}

/** Column, value before (absent: it says nothing), value after. */
function columnsOf(before: JsonObject | null, after: JsonObject | null) {
  const row = after ?? before ?? {};
  const columns = Object.keys({ ...before, ...after }).slice(0, 40);
  if (before === null || after === null) return columns.map((column) => [column, undefined, row[column]] as const);
  return columns
    .filter((column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]))
    .map((column) => [column, before[column] ?? null, after[column]] as const);
}

const TONES: { readonly [state: string]: Tone } = {
  committed: 'good',
  failed: 'bad',
  rejected: 'bad',
  denied: 'bad',
  unknown: 'wait',
  awaiting_approval: 'wait',
  running: 'busy',
  proposed: 'busy',
};
