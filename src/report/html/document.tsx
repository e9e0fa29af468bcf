import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { plainText, shorten } from '../plain-text.ts';
import { scriptJson } from './script-json.ts';

/** The frame of every page, of files and of the console alike: what a browser has to know before it shows anything. */
export function Document({
  title,
  policy,
  head,
  attributes = {},
  children,
}: {
  /** Of the window; foreign text is made plain. */
  readonly title: string;
  /** What the page may load and run, where no server says so. */
  readonly policy?: string;
  /** Styles, and what runs before the page is laid out. */
  readonly head: Child;
  readonly attributes?: { readonly [name: string]: string };
  readonly children?: Child;
}) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        {policy !== undefined && <meta http-equiv="Content-Security-Policy" content={policy} />}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {/* A page of a server has the server's rules, by which its forms say from where they come. */}
        {policy !== undefined && <meta name="referrer" content="no-referrer" />}
        <meta name="robots" content="noindex" />
        <title>{shorten(plainText(title), 200)}</title>
        {head}
      </head>
      <body {...attributes}>{children}</body>
    </html>
  );
}

/** A page that is one file: it opens offline, asks for nothing from anywhere, and reads well without a script, in print and in dark mode. */
export interface FilePage {
  readonly title: string;
  /** Sheets after the one of all pages, the later ones over the earlier. */
  readonly styles: readonly URL[];
  /** Code that runs before anything is laid out. */
  readonly first?: string;
  /** What runs at the end, and what it reads, as JSON in an element of this id. */
  readonly script?: { readonly file: URL; readonly id: string; readonly data: unknown };
  readonly body: Child;
}

/** The page as HTML. Its policy lets run only the scripts that are in it. */
export function fileHtml({ title, styles, first, script, body }: FilePage): string {
  const style = styleSheet(styles);
  const code = script === undefined ? null : readFileSync(script.file, 'utf8');
  const scripts = [...(first === undefined ? [] : [first]), ...(code === null ? [] : [code])].map((one) => `'${digest(one)}'`);
  const policy = [
    "default-src 'none'",
    `style-src '${digest(style)}'`,
    ...(scripts.length > 0 ? [`script-src ${scripts.join(' ')}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const head = (
    <>
      <style>{raw(style)}</style>
      {first !== undefined && <script>{raw(first)}</script>}
    </>
  );
  const page = (
    <Document title={title} policy={policy} head={head}>
      {body}
      {script !== undefined && code !== null && (
        <>
          <script type="application/json" id={script.id}>
            {raw(scriptJson(script.data))}
          </script>
          <script>{raw(code)}</script>
        </>
      )}
    </Document>
  );
  return `<!doctype html>${String(page)}`;
}

/** The sheet of all pages, then these. */
export function styleSheet(styles: readonly URL[]): string {
  return [BASE, ...styles].map((url) => readFileSync(url, 'utf8')).join('\n');
}

const BASE = new URL('./assets/base.css', import.meta.url);

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
