import type { Child } from 'hono/jsx';
import type { Message } from '../../domain/record.ts';
import type { Operation } from '../../domain/operation.ts';
import { approvalEndText } from '../approval-words.ts';
import { durationText } from '../duration-text.ts';
import { Foreign, ForeignBlock, ForeignJson, Time } from '../html/text.tsx';
import { Mail, RowDiffs, RowName } from './changes.tsx';
import { Finding, PartOf, StepLink } from './finding.tsx';
import { ModelEntry } from './models.tsx';
import type { Room } from './room.ts';
import type { Trace, TraceStep } from './trace.ts';
import { endingText, isMisled, knownText, linkText, stateOf, stepTitle, toldText, wrongIn } from './words.ts';

interface StepProps {
  readonly trace: Trace;
  readonly step: TraceStep;
  readonly room: Room;
}

/** One step with all that belongs to it. */
export function Step({ trace, step, room }: StepProps) {
  const { n, operation, messages, mails, faults, at, clockMovedMs, entry } = step;
  const about = step.findings.flatMap((place) => trace.findings[place] ?? []);
  const tickets = ticketTablesIn(trace);
  const rows = step.changes.filter(({ table }) => !tickets.has(table));
  const ticketRows = step.changes.filter(({ table }) => tickets.has(table));
  const said = entry === null ? undefined : trace.models.entries[entry];
  const call = said?.call == null ? undefined : trace.models.calls.find(({ id }) => id === said.call);
  return (
    <article id={`step-${n}`} class="step" {...(operation && { 'data-op': operation.id })} aria-label={`Step ${n}`}>
      <h2>
        <span class="n">{n}</span> <Foreign text={stepTitle(step, trace.head.ending)} max={120} />
      </h2>
      <p class="dim meta">
        {operation && <OperationFacts operation={operation} recalled={step.recalled} />}
        {at !== null && (
          <span>
            world’s clock <Time at={at} />
          </span>
        )}
        {clockMovedMs > 0 && <span>{durationText(clockMovedMs / 1000)} after the step before</span>}
        {!step.placed && <span>its place among the steps is not recorded exactly</span>}
      </p>
      {about
        .filter(({ cause }) => cause === n)
        .map((finding) => (
          <Finding finding={finding} trace={trace} here={n} room={room} />
        ))}
      {faults.map(({ kind, rule, detail }) => (
        <Part title="Fault" tone="wait">
          <p>
            <span class="badge wait">{kind.replaceAll('_', ' ')}</span> <Foreign text={detail} max={room.value} />{' '}
            <span class="dim">(rule {rule + 1} of the schedule)</span>
          </p>
        </Part>
      ))}
      {step.links.length > 0 && (
        <ul class="links">
          {step.links.map((link) => (
            <li>
              This step {linkText(link)} <StepLink trace={trace} n={link.step} />.
            </li>
          ))}
        </ul>
      )}
      {step.kind === 'end' && <End trace={trace} room={room} />}
      {step.kind === 'verdict' && <VerdictInShort trace={trace} />}
      {operation && <TwoTruths step={step} operation={operation} room={room} />}
      <PartOf findings={about.filter(({ cause }) => cause !== n)} trace={trace} />
      {operation?.approval && <Approval approval={operation.approval} room={room} />}
      {step.handOver && (
        <Part title="Hand-over">
          <p>
            <Foreign text={step.handOver.from} max={80} /> gives the conversation to <Foreign text={step.handOver.to} max={80} />:
          </p>
          <ForeignBlock text={step.handOver.text} max={room.text} />
        </Part>
      )}
      {messages.map((message) => (
        <Said message={message} room={room} />
      ))}
      {said && (
        <Part title="What the model said with the call">
          <ModelEntry entry={said} call={call} room={room} />
        </Part>
      )}
      {operation && <Call operation={operation} room={room} />}
      {rows.length > 0 && (
        <Part title={`World: ${counted(rows.length, 'row')} before and after`}>
          <RowDiffs changes={rows} room={room} />
        </Part>
      )}
      {ticketRows.length > 0 && (
        <Part title={`Tickets: ${counted(ticketRows.length, 'row')} before and after`}>
          <RowDiffs changes={ticketRows} room={room} />
        </Part>
      )}
      {mails.length > 0 && (
        <Part title={`Mail: ${counted(mails.length, 'mail')}`}>
          {mails.map((mail) => (
            <Mail mail={mail} room={room} />
          ))}
        </Part>
      )}
      {step.late.length + step.lateRequests.length > 0 && <Late step={step} room={room} />}
    </article>
  );
}

/** A headed part of a step or a pane. */
export function Part({ title, tone, children }: { readonly title: string; readonly tone?: 'wait' | 'bad'; readonly children?: Child }) {
  return (
    <section class={tone === undefined ? 'part' : `part ${tone}`}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** One message between user and agent. */
export function Said({ message: { from, actor, text, data, turn }, room }: { readonly message: Message; readonly room: Room }) {
  return (
    <div class={`said ${from}`}>
      <p class="from">
        {actor === undefined ? from === 'user' ? 'User' : 'Agent' : <Foreign text={actor} max={80} />} <span class="dim">turn {turn}</span>
      </p>
      <ForeignBlock text={text} max={room.text} />
      {data && (
        <>
          <p class="dim">structured answer</p>
          <ForeignJson value={data} max={room.text} />
        </>
      )}
    </div>
  );
}

function OperationFacts({ operation: o, recalled }: { readonly operation: Operation; readonly recalled: boolean }) {
  return (
    <>
      <span>
        operation <Foreign text={o.id} max={80} />
      </span>
      {o.effect !== null && <span>{EFFECTS[o.effect]}</span>}
      {o.actor !== undefined && (
        <span>
          by <Foreign text={o.actor} max={80} />
        </span>
      )}
      {o.durationMs !== null && <span>{Math.round(o.durationMs).toLocaleString('en-US')} ms of real time</span>}
      {o.tries !== undefined && <span>{o.tries} tries of the production client</span>}
      {recalled && <span>answered from the record of the trial that this one goes on from</span>}
      {o.disturbed && <span>the test bed had to recover it from trouble of its own</span>}
    </>
  );
}

/** What the agent was told beside what is so: where they differ, most failures begin. */
function TwoTruths({ step, operation: o, room }: { readonly step: TraceStep; readonly operation: Operation; readonly room: Room }) {
  const changes = step.changes.length + step.mails.filter(({ accepted, byFault }) => accepted && byFault === undefined).length;
  const misled = isMisled(step);
  return (
    <div class={misled ? 'truths differ' : 'truths'}>
      <section>
        <h3>The agent was told</h3>
        <p>
          <span class={`badge ${o.told === 'committed' ? 'good' : o.told === 'unknown' || o.told === 'awaiting_approval' ? 'wait' : 'bad'}`}>
            {o.told.replaceAll('_', ' ')}
          </span>{' '}
          {toldText(o)}
        </p>
        {o.problem && (
          <p>
            <Foreign text={`${o.problem.code}: ${o.problem.message}`} max={room.text} />
          </p>
        )}
        {o.ended && (
          <p>
            Later: <span class="badge plain">{o.ended.state}</span>{' '}
            {o.ended.problem && <Foreign text={`${o.ended.problem.code}: ${o.ended.problem.message}`} max={600} />}
          </p>
        )}
      </section>
      <section>
        <h3>The systems of record know</h3>
        <p>
          <span class={`badge ${o.known === 'committed' ? 'good' : o.known === 'failed' ? 'plain' : 'wait'}`}>{o.known}</span> {knownText(o, changes)}
        </p>
        {misled && <p class="differ-note">The agent was told something else.</p>}
        {o.detail !== undefined && (
          <p class="dim">
            For operators: <Foreign text={o.detail} max={room.text} />
          </p>
        )}
      </section>
    </div>
  );
}

function Call({ operation: { args, result, idempotencyKey }, room }: { readonly operation: Operation; readonly room: Room }) {
  return (
    <div class="call">
      <Part title="Call: arguments">
        {idempotencyKey !== null && (
          <p class="dim">
            idempotency key <Foreign text={idempotencyKey} max={200} />
          </p>
        )}
        <ForeignJson value={args} max={room.text} />
      </Part>
      <Part title="Result">{result === null ? <p class="dim">The agent got no result.</p> : <ForeignJson value={result} max={room.text} />}</Part>
    </div>
  );
}

function Approval({ approval: { rule, end, rows }, room }: { readonly approval: NonNullable<Operation['approval']>; readonly room: Room }) {
  return (
    <Part title="Approval">
      <p>
        Asked for, since <Foreign text={rule} max={300} /> need one: <Foreign text={approvalEndText(end)} max={room.value} />
      </p>
      {rows.map(({ table, where, rows: shown }) => (
        <p class="dim">
          Shown to whoever decides: {counted(shown.length, 'row')} of <RowName table={table} values={where} />
        </p>
      ))}
    </Part>
  );
}

function End({ trace: { head, steps }, room }: { readonly trace: Trace; readonly room: Room }) {
  const { ending, problem, beyondBudget } = head;
  return (
    <>
      <p>
        {ending !== null && (
          <>
            <span class={`badge ${ending === 'completed' ? 'good' : 'bad'}`}>{ending.replaceAll('_', ' ')}</span> {endingText(ending)}
          </>
        )}
      </p>
      {problem && <ForeignBlock text={`${problem.code}: ${problem.message}`} max={room.text} />}
      {beyondBudget > 0 && <p>{counted(beyondBudget, 'call')} beyond the budget: refused, and never sent.</p>}
      {steps.some(({ operation }) => operation !== null) && (
        <p class="dim">After it the door is closed: no write can reach the world any more, and what is there is graded.</p>
      )}
    </>
  );
}

function VerdictInShort({ trace }: { readonly trace: Trace }) {
  const state = stateOf(trace);
  const wrong = wrongIn(trace);
  const loose = wrong.filter(({ steps }) => steps.length === 0).length;
  return (
    <>
      <p>
        <span class={`badge ${state.tone}`}>{state.word}</span>{' '}
        {trace.head.verdict === null
          ? 'Nothing was judged.'
          : wrong.length === 0
            ? 'Nothing was found that is wrong.'
            : `${counted(wrong.length, 'finding')}; the pane Verdict has each with its evidence.`}
      </p>
      {loose > 0 && <p>{counted(loose, 'finding')} of them no step caused: it is about what was not done.</p>}
    </>
  );
}

function Late({ step: { late, lateRequests }, room }: { readonly step: TraceStep; readonly room: Room }) {
  return (
    <Part title="Refused after the door was closed">
      <ul>
        {late.slice(0, 100).map(({ source, operation, detail }) => (
          <li>
            <span class="badge wait">{source}</span> {operation !== null && <Foreign text={operation} max={80} />} <Foreign text={detail} max={room.value} />
          </li>
        ))}
        {lateRequests.slice(0, 100).map(({ at, detail }) => (
          <li>
            <Time at={at} /> <Foreign text={detail} max={room.value} /> <span class="dim">after the record was made</span>
          </li>
        ))}
      </ul>
      {late.length + lateRequests.length > 200 && <p class="dim">and more</p>}
    </Part>
  );
}

/** Tables of which rows are shown as tickets. */
export function ticketTablesIn({ tickets, rows }: Pick<Trace, 'tickets' | 'rows'>): ReadonlySet<string> {
  const places = (tickets ?? []).flatMap(({ row, comments }) => [...(row === null ? [] : [row]), ...comments]);
  return new Set(places.flatMap((place) => rows[place]?.table ?? []));
}

/** `1 row`, `3 rows`. */
export function counted(n: number, one: string): string {
  return `${n.toLocaleString('en-US')} ${one}${n === 1 ? '' : 's'}`;
}

const EFFECTS = { read: 'reads', write: 'writes rows', external: 'acts through a service' } as const;
