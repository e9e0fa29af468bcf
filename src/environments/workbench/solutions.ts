import { TOOLKITS } from './domains.ts';
import type { GoldCall, Task } from './tasks.ts';

/** The rows of a data file, by its name. */
export type RowsOf = (file: string) => readonly { readonly [column: string]: string }[];

/** Indexes of the solution's calls that leave the tables as they are: updates to what the cell already holds, of rows that no earlier call is about. */
export function idleSteps({ gold }: Task, rowsOf: RowsOf): readonly number[] {
  return indexesOf(gold, ({ tool, args }, at) => {
    const [toolkit = '', name = ''] = tool.split('.');
    const file = TOOLKITS[toolkit]?.files[0];
    const id = file?.columns[0];
    if (!name.startsWith('update_') || !file || !id || gold.slice(0, at).some((earlier) => earlier.args[id] === args[id])) return false;
    const { field = '', new_value: value = '' } = args;
    const cell = field.endsWith('_email') ? value.toLowerCase() : value;
    return rowsOf(file.file).every((row) => row[id] !== args[id] || row[field] === cell);
  });
}

/**
 * Indexes of the solution's calls that would send the very same mail for another mail of the data: a reply to the same address under the same subject, or a
 * forward of the same subject and text. What is sent does not name the mail that it comes from.
 */
export function interchangeableSteps({ gold }: Task, rowsOf: RowsOf): readonly number[] {
  return indexesOf(gold, ({ tool, args }) => {
    const columns = { 'email.reply_email': ['sender/recipient', 'subject'], 'email.forward_email': ['subject', 'body'] }[tool];
    if (columns === undefined) return false;
    const mails = rowsOf('emails.csv');
    const own = mails.find((mail) => mail['email_id'] === args['email_id']);
    return own !== undefined && mails.some((mail) => mail !== own && columns.every((column) => mail[column] === own[column]));
  });
}

function indexesOf(gold: readonly GoldCall[], test: (call: GoldCall, at: number) => boolean): readonly number[] {
  return gold.flatMap((call, at) => (test(call, at) ? [at] : []));
}
