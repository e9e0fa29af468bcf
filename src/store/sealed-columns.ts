/** Columns that are encrypted where there is a key, by table. Each of these tables has a column `trial`. */
export const SEALED_COLUMNS = {
  messages: ['body'],
  conversation: ['body', 'exact'],
  records: ['body'],
  attempts: ['problem', 'summary'],
  verdicts: ['body'],
  model_calls: ['body'],
  approvals: ['subject', 'ending'],
  snapshots: ['body', 'raw_mails'],
  origins: ['notes'],
  cassette_operations: ['body'],
  judgements: ['reason', 'problem'],
  labels: ['note'],
} as const;

export type SealedTable = keyof typeof SEALED_COLUMNS;

/** What a value is bound to: it opens nowhere else. */
export function placeOf<T extends SealedTable>(table: T, column: (typeof SEALED_COLUMNS)[T][number], trial: string): string {
  return `${table}.${column} of trial ${trial}`;
}
