import type { Child } from 'hono/jsx';
import { plainText, shorten } from '../plain-text.ts';

/** A table with its caption. The first cell of a row names it. */
export interface Table {
  readonly caption: string;
  /** Made plain and short: names of agents may stand there. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly Child[])[];
  /** Columns of numbers, from 0: set right, digits of one width. */
  readonly numbers?: readonly number[];
  /** Columns of sentences: not narrow. */
  readonly sentences?: readonly number[];
  /** Rows that there are beside those given, and where they are. */
  readonly more?: { readonly rows: number; readonly where: string };
}

/** Wide tables scroll by themselves, so that the page does not. */
export function DataTable({ caption, head, rows, numbers = [], sentences = [], more }: Table) {
  const kind = (at: number) => (numbers.includes(at) ? { class: 'number' } : sentences.includes(at) ? { class: 'sentence' } : {});
  return (
    <>
      {/* A box that scrolls is reached by the keyboard. */}
      <section class="scroll" aria-label={caption} tabindex={0}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              {head.map((name, at) => (
                <th scope="col" {...kind(at)}>
                  {shorten(plainText(name), 60)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells) => (
              <tr>
                {cells.map((cell, at) =>
                  at === 0 ? (
                    <th scope="row" {...kind(at)}>
                      {cell}
                    </th>
                  ) : (
                    <td {...kind(at)}>{cell}</td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more !== undefined && more.rows > 0 && (
        <p class="dim">
          and {more.rows.toLocaleString('en-US')} more, {more.where}
        </p>
      )}
    </>
  );
}
