import type { Child } from 'hono/jsx';
import { formToken } from '../keys.ts';
import { Document, FormToken, Page, type PageContext } from './layout.tsx';
import { Foreign } from '../../../report/html/text.tsx';

/** For whoever is not signed in. `cookie`: what the form is bound to. `link`: the key of a link that signs in once. */
export function SignInPage({ cookie, link, problem }: { readonly cookie: string; readonly link: string | null; readonly problem: string | null }) {
  return (
    <Document title="Sign in">
      <main id="main" class="narrow">
        <h1>trialbed</h1>
        {problem !== null && (
          <p class="notice refused" role="alert">
            {problem}
          </p>
        )}
        <form method="post" action="/console/sign-in" class="decide">
          <input type="hidden" name="form" value={formToken(cookie)} />
          {link !== null ? (
            <>
              <p>This link signs you in once.</p>
              <input type="hidden" name="key" value={link} />
              <button type="submit" autofocus>
                Sign in
              </button>
            </>
          ) : (
            <>
              <label for="key">Token</label>
              <input id="key" name="key" type="password" autocomplete="current-password" required autofocus />
              <button type="submit">Sign in</button>
              <p class="dim">
                <code>trialbed console</code> prints a link that needs no token; <code>trialbed console token add</code> makes tokens for others.
              </p>
            </>
          )}
        </form>
      </main>
    </Document>
  );
}

/** Asks once more before something is ended. */
export function ConfirmPage(props: {
  readonly context: PageContext;
  readonly title: string;
  readonly children?: Child;
  readonly action: string;
  readonly button: string;
  readonly back: string;
  readonly danger?: boolean;
  /** What the form says beside. */
  readonly fields?: { readonly [name: string]: string };
}) {
  const { context, title, action, button, back, danger = false, fields = {}, children } = props;
  return (
    <Page context={context} title={title} section="batches">
      <h1>{title}</h1>
      {children}
      <form method="post" action={action}>
        <FormToken visitor={context.visitor} />
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="acts">
          <button type="submit" class={danger ? 'danger' : ''}>
            {button}
          </button>
          <a class="button quiet" href={back}>
            Back
          </a>
        </div>
      </form>
    </Page>
  );
}

/** What cannot be shown or done, and why. */
export function ProblemPage({ context, title, text }: { readonly context: PageContext | null; readonly title: string; readonly text: string }) {
  const body = (
    <>
      <h1>{title}</h1>
      <p>
        <Foreign text={text} max={1_000} />
      </p>
      <p>
        <a href="/console/batches">Batches</a>
      </p>
    </>
  );
  if (context === null)
    return (
      <Document title={title}>
        <main id="main" class="narrow">
          {body}
        </main>
      </Document>
    );
  return (
    <Page context={context} title={title} section={null}>
      {body}
    </Page>
  );
}
