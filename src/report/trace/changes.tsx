import type { MailEffect, RowEffect } from '../../domain/effect.ts';
import type { JsonObject } from '../../domain/json.ts';
import { Foreign, ForeignBlock, ForeignValue } from '../html/text.tsx';
import type { Room } from './room.ts';
import { changedColumns } from './rows.ts';

/** Changes of rows that one step shows. */
const MOST_CHANGES = 40;
const MOST_COLUMNS = 60;

/** Rows before and after, one below the other. */
export function RowDiffs({ changes, room }: { readonly changes: readonly RowEffect[]; readonly room: Room }) {
  return (
    <>
      {changes.slice(0, MOST_CHANGES).map((change) => (
        <RowDiff change={change} room={room} />
      ))}
      {changes.length > MOST_CHANGES && <p class="dim">and {changes.length - MOST_CHANGES} changes more</p>}
    </>
  );
}

function RowDiff({ change: { change, table, key, before, after, byFault }, room }: { readonly change: RowEffect; readonly room: Room }) {
  const changed = changedColumns(before, after);
  const whole = before === null || after === null;
  const row = after ?? before ?? {};
  const told = (whole ? changed.filter((column) => row[column] !== null) : changed).slice(0, MOST_COLUMNS);
  const rest = Object.keys({ ...before, ...after }).filter((column) => !told.includes(column));
  return (
    <table class={`diff ${change}`}>
      <caption>
        <span class="verb">{VERBS[change]}</span> <RowName table={table} values={key} />{' '}
        {byFault !== undefined && <span class="badge wait">by somebody else</span>}
      </caption>
      <thead>
        <tr>
          <th scope="col">Column</th>
          {change !== 'insert' && <th scope="col">Before</th>}
          {change !== 'delete' && <th scope="col">After</th>}
        </tr>
      </thead>
      <tbody>
        {told.map((column) => (
          <tr>
            <th scope="row">
              <Foreign text={column} max={80} />
            </th>
            {change !== 'insert' && (
              <td class="was">
                <ForeignValue value={before?.[column]} max={room.value} />
              </td>
            )}
            {change !== 'delete' && (
              <td class="now">
                <ForeignValue value={after?.[column]} max={room.value} />
              </td>
            )}
          </tr>
        ))}
        {told.length === 0 && (
          <tr>
            <td colspan={3}>No column differs.</td>
          </tr>
        )}
      </tbody>
      {rest.length > 0 && <RestOf columns={rest} row={row} whole={whole} room={room} />}
    </table>
  );
}

/** What did not change, in one line; of a whole row what is empty. */
function RestOf({
  columns,
  row,
  whole,
  room,
}: {
  readonly columns: readonly string[];
  readonly row: JsonObject;
  readonly whole: boolean;
  readonly room: Room;
}) {
  const values = columns.map((column) => (whole ? column : `${column} ${JSON.stringify(row[column] ?? null)}`));
  return (
    <tfoot>
      <tr>
        <td colspan={3}>
          {whole ? 'null: ' : 'unchanged: '}
          <Foreign text={values.join(', ')} max={room.value} />
        </td>
      </tr>
    </tfoot>
  );
}

/** A row by its table and key. */
export function RowName({ table, values }: { readonly table: string; readonly values: JsonObject }) {
  return (
    <>
      <Foreign text={table} max={80} /> <ForeignValue value={Object.values(values).map(textOf).join(', ')} max={120} />
    </>
  );
}

/** A mail as the inbox has it, or refused it. */
export function Mail({ mail, room }: { readonly mail: MailEffect; readonly room: Room }) {
  const to = mail.recipients.map(({ address, code }) => (code === 250 ? address : `${address} (refused, ${code})`)).join(', ');
  return (
    <div class="mail">
      <p class="subject">
        {mail.subject === '' ? 'without a subject' : <Foreign text={mail.subject} max={Math.min(300, room.text)} />}{' '}
        {!mail.accepted && <span class="badge bad">refused by the inbox</span>}
        {mail.byFault !== undefined && <span class="badge wait">delivered once more by a fault</span>}
      </p>
      <p class="dim">
        from <Foreign text={mail.from} max={200} /> to <Foreign text={to} max={room.value} />
        {mail.attachments.length > 0 && (
          <>
            , with <Foreign text={mail.attachments.map(({ filename, bytes }) => `${filename ?? 'no name'} (${bytes} bytes)`).join(', ')} max={300} />
          </>
        )}
        {mail.violations.length > 0 && (
          <>
            , breaks <Foreign text={mail.violations.join(', ')} max={200} />
          </>
        )}
      </p>
      <ForeignBlock text={mail.text.trim()} max={room.text} />
    </div>
  );
}

function textOf(value: JsonObject[string]): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const VERBS = { insert: 'New', update: 'Changed', delete: 'Deleted' } as const;
