import { raw } from 'hono/html';
import { DataTable, type Table } from './table.tsx';

/** A chart as SVG, with a text for those who do not see it, and the numbers that it is drawn from. */
export interface Chart {
  readonly title: string;
  readonly svg: string;
  readonly table: Table;
}

/** The sheet of charts, which a page that has any needs. */
export const CHARTS = new URL('./assets/charts.css', import.meta.url);

/** A chart with its title and its table, which is closed on a screen and open in print. */
export function Figure({ chart: { title, svg, table } }: { readonly chart: Chart }) {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      {/* A box that scrolls is reached by the keyboard. */}
      <section class="drawing" aria-label={title} tabindex={0}>
        {raw(svg)}
      </section>
      <details>
        <summary>The chart as a table</summary>
        <DataTable {...table} />
      </details>
    </figure>
  );
}
