import type { Child } from 'hono/jsx';

/** A table that becomes a list of cards where the window is narrow; roles keep it a table for those who hear it. */
export function Table({ caption, head, rows }: { readonly caption: string; readonly head: readonly string[]; readonly rows: readonly (readonly Child[])[] }) {
  return (
    <table {...ROLES.table} class="stack">
      <caption class="hidden">{caption}</caption>
      <thead {...ROLES.rowgroup}>
        <tr {...ROLES.row}>
          {head.map((name) => (
            <th {...ROLES.columnheader} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...ROLES.rowgroup}>
        {rows.map((cells) => (
          <tr {...ROLES.row}>
            {cells.map((cell, at) => (
              <td {...ROLES.cell} data-name={head[at]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Links to the pages of a long list. */
export function Pager({ page, pages, href }: { readonly page: number; readonly pages: number; readonly href: (page: number) => string }) {
  if (pages <= 1) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && (
        <>
          <a href={href(1)}>First</a>
          <a href={href(page - 1)} rel="prev">
            Previous
          </a>
        </>
      )}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages && (
        <>
          <a href={href(page + 1)} rel="next">
            Next
          </a>
          <a href={href(pages)}>Last</a>
        </>
      )}
    </nav>
  );
}

/** Said once more: a browser that shows rows as cards may not take them for a table otherwise. */
const ROLES = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  columnheader: { role: 'columnheader' },
  cell: { role: 'cell' },
} as const;
