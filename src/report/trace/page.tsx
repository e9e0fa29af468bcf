import { fileHtml } from '../html/document.tsx';
import { AboutPane } from './about-pane.tsx';
import { Overview } from './overview.tsx';
import { ConversationPane, InboxPane, ModelsPane, TicketsPane, WorldPane } from './panes.tsx';
import { MAX_BYTES, type Room, roomsFor } from './room.ts';
import { stateData } from './state-data.ts';
import { StepList } from './step-list.tsx';
import { Step } from './step.tsx';
import { Strip } from './strip.tsx';
import type { Trace } from './trace.ts';
import { VerdictPane } from './verdict-pane.tsx';

/**
 * A trace as one HTML file: it asks for nothing from anywhere, shows everything without a script, one step below the other, and with one a step at a time. Foreign text in it is
 * escaped and cut; the longer the trial, the shorter, so that the file stays below 5 MB.
 */
export function traceHtml(trace: Trace): string {
  let html = '';
  for (const room of roomsFor(trace)) {
    html = fileHtml({
      title: titleText(trace),
      styles: [STYLE],
      first: FIRST,
      script: { file: SCRIPT, id: 'state', data: stateData(trace, room) },
      body: <Content trace={trace} room={room} />,
    });
    if (Buffer.byteLength(html) <= MAX_BYTES) break;
  }
  return html;
}

const STYLE = new URL('./assets/trace.css', import.meta.url);
const SCRIPT = new URL('./assets/trace.js', import.meta.url);

function Content({ trace, room }: { readonly trace: Trace; readonly room: Room }) {
  const { head } = trace;
  const models = trace.models.calls.length + trace.models.entries.length > 0;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the steps
      </a>
      <header class="top">
        <p class="kicker">
          <span>trialbed: one trial, step by step</span>
          <span class="id">{head.trial}</span>
          <span>This file holds the data of the trial in clear. Send it only to whom that may be shown.</span>
        </p>
        <Overview trace={trace} room={room} />
        <Strip trace={trace} />
      </header>
      <main id="main" tabindex={-1}>
        <nav class="list" aria-label="Steps">
          {trace.steps.length === 0 ? <p class="empty">Nothing was recorded.</p> : <StepList trace={trace} />}
        </nav>
        <div class="detail">
          <div class="bar only-js">
            <div class="go">
              <button type="button" id="before" aria-label="Step before">
                ↑
              </button>
              <button type="button" id="next" aria-label="Next step">
                ↓
              </button>
            </div>
            <div class="tabs" role="tablist" aria-label="Panes">
              <Tab id="step" text="Step" />
              <Tab id="world" text="World" count />
              <Tab id="inbox" text="Inbox" count />
              <Tab id="tickets" text="Tickets" count />
              <Tab id="conversation" text="Conversation" />
              {models && <Tab id="models" text="Models" />}
              <Tab id="verdict" text="Verdict" />
              <Tab id="about" text="About" />
            </div>
          </div>
          <section class="panes" id="panes" tabindex={0} aria-label="Details">
            <section id="pane-step" class="pane" role="tabpanel" aria-label="Step" tabindex={-1}>
              {trace.steps.map((step) => (
                <Step trace={trace} step={step} room={room} />
              ))}
            </section>
            <WorldPane trace={trace} room={room} />
            <InboxPane trace={trace} room={room} />
            <TicketsPane trace={trace} room={room} />
            <ConversationPane trace={trace} room={room} />
            {models && <ModelsPane trace={trace} room={room} />}
            <VerdictPane trace={trace} room={room} />
            <AboutPane trace={trace} />
          </section>
        </div>
      </main>
    </>
  );
}

/** Before anything is laid out: a browser would lay out all steps, of which one is shown. */
const FIRST = "document.documentElement.classList.add('js')";

function Tab({ id, text, count = false }: { readonly id: string; readonly text: string; readonly count?: boolean }) {
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${id}`}
      aria-controls={`pane-${id}`}
      aria-selected={id === 'step' ? 'true' : 'false'}
      tabindex={id === 'step' ? 0 : -1}
    >
      {text}
      {count && <span class="count" id={`count-${id}`} />}
    </button>
  );
}

function titleText({ head }: Trace): string {
  const state = head.verdict?.pass ?? head.ending ?? 'not ended';
  return `${state}: ${head.case} by ${head.agent}, ${head.trial}`;
}
