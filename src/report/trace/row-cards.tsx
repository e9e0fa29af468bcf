import { Foreign } from '../html/text.tsx';
import { StepLinks } from './finding.tsx';
import type { Room } from './room.ts';
import { lastImage, rowText, stateData } from './state-data.ts';
import type { Trace } from './trace.ts';

/** Rows that are shown at once. */
const MOST_ROWS = 400;

/** Rows as they were at first and as they are at the end. The page's script shows the same after any step. */
export function RowCards({ trace, places, room }: { readonly trace: Trace; readonly places: readonly number[]; readonly room: Room }) {
  const { rows } = stateData({ ...trace, rows: places.slice(0, MOST_ROWS).flatMap((place) => trace.rows[place] ?? []) }, room);
  return (
    <>
      {rows.map(({ before, states }, at) => {
        const row = trace.rows[places[at] ?? 0];
        const last = lastImage(before, states);
        const columns = Object.keys({ ...before, ...last }).filter(
          (column) => before?.[column] !== last?.[column] && !(before === null && last?.[column] === null),
        );
        return (
          <table class="diff">
            <caption>
              {row && <Foreign text={rowText(row)} max={200} />} {last === null && <span class="badge bad">deleted</span>}
              {before === null && last !== null && <span class="badge good">new</span>}{' '}
              <span class="dim">
                changed in <StepLinks trace={trace} steps={[...new Set(states.map(([step]) => step))]} />
              </span>
            </caption>
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">At first</th>
                <th scope="col">At the end</th>
              </tr>
            </thead>
            <tbody>
              {columns.length === 0 && (
                <tr>
                  <td colspan={3}>It is as it was at first.</td>
                </tr>
              )}
              {columns.map((column) => (
                <tr>
                  <th scope="row">{column}</th>
                  <td class="was">{before === null ? '' : (before[column] ?? 'null')}</td>
                  <td class="now">{last === null ? '' : (last[column] ?? 'null')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      })}
      {places.length > MOST_ROWS && <p class="dim">and {places.length - MOST_ROWS} rows more</p>}
    </>
  );
}
