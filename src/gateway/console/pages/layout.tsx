import type { Child } from 'hono/jsx';
import { formToken } from '../keys.ts';
import { may, maySee, type Visitor } from '../access.ts';
import type { ConsoleRole } from '../../../store/console-keys.ts';
import { Document as Frame } from '../../../report/html/document.tsx';
import { Foreign } from '../../../report/html/text.tsx';

/** What every page needs to know of who asked for it. */
export interface PageContext {
  readonly visitor: Visitor;
  /** Told once, above the page. */
  readonly notice: Notice | null;
  /** Requests that wait for people. */
  readonly waiting: number;
}

export interface Notice {
  readonly kind: 'done' | 'refused';
  readonly text: string;
}

type Section = 'batches' | 'approvals' | 'labels' | 'audit' | null;

/** A page for somebody who is signed in. `live`: seconds after which its parts that are marked so are asked for again; `script`: a file of `assets/` that it runs. */
export function Page({
  context,
  title,
  section,
  live,
  script,
  children,
}: {
  readonly context: PageContext;
  readonly title: string;
  readonly section: Section;
  readonly live?: number;
  readonly script?: string;
  readonly children?: Child;
}) {
  const { visitor, notice, waiting } = context;
  const sees = maySee(visitor);
  const link = (name: Exclude<Section, null>, text: string, count = 0) => (
    <a class="tab" href={`/console/${name}`} {...(section === name && { 'aria-current': 'page' })}>
      {text}
      {count > 0 && <span class="count">{count > 999 ? '999+' : count}</span>}
    </a>
  );
  return (
    <Document title={title} {...(live !== undefined && { live })} {...(script !== undefined && { script })}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={sees ? '/console/batches' : '/console/labels'}>
          trialbed
        </a>
        <nav aria-label="Main" id="nav" data-live="">
          {sees && link('batches', 'Batches')}
          {sees && link('approvals', 'Approvals', waiting)}
          {may(visitor, 'labeller') && link('labels', 'Label')}
          {sees && link('audit', 'Audit log')}
        </nav>
        <div class="who">
          <span>
            <Foreign text={visitor.holder} max={60} /> <span class="dim">{visitor.roles.join(', ')}</span>
          </span>
          <form method="post" action="/console/sign-out">
            <FormToken visitor={visitor} />
            <button type="submit" class="quiet">
              Sign out
            </button>
          </form>
        </div>
      </header>
      <main id="main" tabindex={-1}>
        {notice && (
          <p class={`notice ${notice.kind}`} role={notice.kind === 'refused' ? 'alert' : 'status'}>
            <Foreign text={notice.text} max={1_000} />
          </p>
        )}
        {children}
      </main>
      {live !== undefined && (
        <footer class="foot">
          <span id="refreshed">This page refreshes itself.</span>
        </footer>
      )}
    </Document>
  );
}

/** The frame of every page. */
export function Document({
  title,
  live,
  script,
  children,
}: {
  readonly title: string;
  readonly live?: number;
  readonly script?: string;
  readonly children?: Child;
}) {
  const head = (
    <>
      <link rel="stylesheet" href="/console/assets/console.css" />
      <link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml" />
      {live !== undefined && <script src="/console/assets/console.js" defer></script>}
      {script !== undefined && <script src={`/console/assets/${script}`} defer></script>}
    </>
  );
  return (
    <Frame title={`${title} · trialbed`} head={head} attributes={live === undefined ? {} : { 'data-refresh': String(live) }}>
      {children}
    </Frame>
  );
}

/** Shows that a form came from a page of ours. */
export function FormToken({ visitor }: { readonly visitor: Pick<Visitor, 'key'> }) {
  return <input type="hidden" name="form" value={formToken(visitor.key)} />;
}

/** A button that sends a request of its own. Shown to those alone who may. */
export function Act({
  context,
  takes,
  action,
  text,
  quiet = false,
}: {
  readonly context: PageContext;
  readonly takes: Exclude<ConsoleRole, 'viewer' | 'labeller'>;
  readonly action: string;
  readonly text: string;
  readonly quiet?: boolean;
}) {
  if (!may(context.visitor, takes)) return null;
  return (
    <form method="post" action={action}>
      <FormToken visitor={context.visitor} />
      <button type="submit" class={quiet ? 'quiet' : ''}>
        {text}
      </button>
    </form>
  );
}

/** Facts, one below the other; those that are null are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, Child | null])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A word with its colour; the word alone says it as well. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children?: Child }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export type Tone = 'good' | 'bad' | 'wait' | 'plain' | 'busy';
