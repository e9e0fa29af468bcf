import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Child } from 'hono/jsx';
import { raw } from 'hono/html';
import { plainText, shorten } from '../plain-text.ts';
import { scriptJson } from '../trace/state-data.ts';

/** A page that is one file: it opens offline, asks for nothing from anywhere, and reads well without a script, in print and in dark mode. */
export interface Page {
  /** Of the window; foreign text is made plain. */
  readonly title: string;
  /** What kind of page it is, in a few words. */
  readonly kicker: string;
  /** What stands above the contents: heading and deciding sentences. */
  readonly head: Child;
  readonly sections: readonly Section[];
  /** A file of `assets/` that runs at the end, and what it reads, as the JSON of the element `data`. */
  readonly script?: { readonly file: string; readonly data: unknown };
}

/** A part of a page, with a place in its contents. A null body leaves it out. */
export interface Section {
  /** Fragment of its address. */
  readonly id: string;
  readonly title: string;
  readonly body: Child | null;
}

/** The page as HTML. Its policy lets run only the script that is in it. */
export function htmlPage({ title, kicker, head, sections, script }: Page): string {
  const style = asset('page.css');
  const code = script === undefined ? null : asset(script.file);
  const policy = `default-src 'none'; style-src '${digest(style)}'; ${code === null ? '' : `script-src '${digest(code)}'; `}base-uri 'none'; form-action 'none'`;
  const shown = sections.filter(({ body }) => body !== null);
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>{shorten(plainText(title), 200)}</title>
        <style>{raw(style)}</style>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the contents
        </a>
        <header class="top">
          <p class="kicker">{kicker}</p>
          {head}
        </header>
        <div class="columns">
          <nav class="contents" aria-label="Contents">
            <h2>Contents</h2>
            <ol>
              {shown.map(({ id, title: name }) => (
                <li>
                  <a href={`#${id}`}>{name}</a>
                </li>
              ))}
            </ol>
          </nav>
          <main id="main" tabindex={-1}>
            {shown.map(({ id, title: name, body }) => (
              <section id={id} aria-labelledby={`${id}-title`}>
                <h2 id={`${id}-title`}>{name}</h2>
                {body}
              </section>
            ))}
          </main>
        </div>
        {script !== undefined && code !== null && (
          <>
            <script type="application/json" id="data">
              {raw(scriptJson(script.data))}
            </script>
            <script>{raw(code)}</script>
          </>
        )}
      </body>
    </html>
  );
  return `<!doctype html>${String(page)}`;
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function asset(file: string): string {
  return readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8');
}
