import { displayWidth, pad, shorten } from '../report/plain-text.ts';

/** One cell: text that is safe to print, and how to paint it once it is padded. */
export type TableCell = string | { readonly text: string; readonly paint: (text: string) => string };

/** A table in plain columns, two spaces apart. The last column is cut so that no line is wider than `columns`. Cells are already safe to print. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly TableCell[])[],
  options: { readonly columns: number; readonly headPaint?: (text: string) => string },
): string[] {
  const text = (cell: TableCell | undefined): string => (cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text);
  const widths = head.map((title, column) => Math.min(MAX_CELL, Math.max(displayWidth(title), ...rows.map((row) => displayWidth(text(row[column]))))));
  const line = (cells: readonly TableCell[]): string => {
    let used = 0;
    return cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        const last = column === cells.length - 1;
        const fitted = last ? shorten(text(cell), Math.max(1, options.columns - used)) : pad(shorten(text(cell), width), width);
        used += width + 2;
        return typeof cell === 'string' ? fitted : cell.paint(fitted);
      })
      .join('  ')
      .trimEnd();
  };
  const headLine = line(head);
  return [options.headPaint ? options.headPaint(headLine) : headLine, ...rows.map(line)];
}

/** No column but the last grows wider than this. */
const MAX_CELL = 60;
