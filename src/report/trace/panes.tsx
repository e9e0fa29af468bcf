import type { Child } from 'hono/jsx';
import { Foreign, Time } from '../html/text.tsx';
import { Mail } from './changes.tsx';
import { StepLink } from './finding.tsx';
import { ModelEntry } from './models.tsx';
import { RowCards } from './row-cards.tsx';
import type { Room } from './room.ts';
import { counted, Said, ticketTablesIn } from './step.tsx';
import type { Trace } from './trace.ts';

interface PaneProps {
  readonly trace: Trace;
  readonly room: Room;
}

/** A pane beside the step: a tab of the page's script, and a chapter without one. */
export function Pane({ id, title, children }: { readonly id: string; readonly title: string; readonly children?: Child }) {
  return (
    <section id={`pane-${id}`} class="pane" role="tabpanel" aria-labelledby={`title-${id}`} tabindex={-1}>
      <h2 id={`title-${id}`}>{title}</h2>
      {children}
    </section>
  );
}

export function WorldPane({ trace, room }: PaneProps) {
  const tickets = ticketTablesIn(trace);
  const places = trace.rows.flatMap(({ table }, at) => (tickets.has(table) ? [] : [at]));
  return (
    <Pane id="world" title="World">
      <p class="dim">
        <span class="when">At the end.</span> Rows that anybody changed; of rows that nobody touched the record tells nothing.
      </p>
      <div id="world-rows">{places.length === 0 ? <p class="empty">No row was changed.</p> : <RowCards trace={trace} places={places} room={room} />}</div>
    </Pane>
  );
}

export function TicketsPane({ trace, room }: PaneProps) {
  const { tickets } = trace;
  return (
    <Pane id="tickets" title="Tickets">
      <p class="dim">
        <span class="when">At the end.</span> Tickets that were made, changed or commented on.
      </p>
      <div id="ticket-rows">
        {tickets === null ? (
          <p class="empty">Which tables hold tickets is not known here: the environment is not. What changed of them stands in the pane World.</p>
        ) : tickets.length === 0 ? (
          <p class="empty">No ticket was made or changed.</p>
        ) : (
          tickets.map(({ key, row, comments }) => (
            <section class="ticket">
              <h3>
                Ticket <Foreign text={key} max={60} />
              </h3>
              <RowCards trace={trace} places={[...(row === null ? [] : [row]), ...comments]} room={room} />
            </section>
          ))
        )}
      </div>
    </Pane>
  );
}

export function InboxPane({ trace, room }: PaneProps) {
  const mails = trace.steps.flatMap(({ n, mails: sent }) => sent.map((mail) => ({ n, mail })));
  return (
    <Pane id="inbox" title="Inbox">
      <p class="dim">
        <span class="when">At the end.</span> Mails that the inbox took or refused.
      </p>
      {mails.length === 0 && <p class="empty">No mail was sent.</p>}
      {mails.map(({ n, mail }) => (
        <div class="item" data-step={n}>
          <p class="dim">
            <StepLink trace={trace} n={n} />, <Time at={mail.at} />
          </p>
          <Mail mail={mail} room={room} />
        </div>
      ))}
    </Pane>
  );
}

export function ConversationPane({ trace, room }: PaneProps) {
  return (
    <Pane id="conversation" title="Conversation">
      <p class="dim">
        <span class="when">The whole conversation.</span> What user and agent said to each other.
      </p>
      {trace.conversation.length === 0 && <p class="empty">Nothing was said.</p>}
      {trace.conversation.map(({ step, message }) => (
        <div class="item" data-step={step}>
          <p class="dim">
            <StepLink trace={trace} n={step} />
          </p>
          <Said message={message} room={room} />
        </div>
      ))}
    </Pane>
  );
}

/** Messages of models that are shown; what belongs to a call stands with it too. */
const MOST_ENTRIES = 2_000;

export function ModelsPane({ trace, room }: PaneProps) {
  const { calls, entries } = trace.models;
  const byId = new Map(calls.map((call) => [call.id, call]));
  return (
    <Pane id="models" title="Models">
      <p class="dim">{counted(calls.length, 'call')} of models. What was said is shown as it was kept: redacted and bounded.</p>
      {entries.length === 0 && <p class="empty">No conversation with a model was kept.</p>}
      {entries.slice(0, MOST_ENTRIES).map((entry) => (
        <div class="item">
          <p class="from">
            {entry.who === 'user' ? 'simulated user' : <Foreign text={entry.agent ?? 'agent'} max={80} />} {entry.seq}, {entry.role}
          </p>
          <ModelEntry entry={entry} call={entry.role === 'assistant' ? byId.get(entry.call ?? '') : undefined} room={room} />
        </div>
      ))}
      {entries.length > MOST_ENTRIES && <p class="dim">and {entries.length - MOST_ENTRIES} more</p>}
    </Pane>
  );
}
