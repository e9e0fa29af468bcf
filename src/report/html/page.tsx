import type { Child } from 'hono/jsx';
import { COMPARED } from '../comparison/style.ts';
import { fileHtml } from './document.tsx';
import { CHARTS } from './figure.tsx';

/** A report: what decides on top, contents at the side, parts with an address each. */
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

/** The page as HTML, with its contents at the side. */
export function htmlPage({ title, kicker, head, sections, script }: Page): string {
  const shown = sections.filter(({ body }) => body !== null);
  const body = (
    <>
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
          {shown.map(({ id, title: name, body: content }) => (
            <section id={id} aria-labelledby={`${id}-title`}>
              <h2 id={`${id}-title`}>{name}</h2>
              {content}
            </section>
          ))}
        </main>
      </div>
    </>
  );
  return fileHtml({
    title,
    styles: [CHARTS, COMPARED, PAGE],
    body,
    ...(script !== undefined && { script: { file: new URL(`./assets/${script.file}`, import.meta.url), id: 'data', data: script.data } }),
  });
}

const PAGE = new URL('./assets/page.css', import.meta.url);
