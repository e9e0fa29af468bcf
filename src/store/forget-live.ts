import type { Sql } from './database.ts';

/** The attempt has ended, and with it every need for messages as they were. */
export async function forgetLive(sql: Sql, trial: string, attempt: number): Promise<void> {
  await sql.query('update trialbed.conversation set exact = null where trial = $1 and attempt <= $2 and exact is not null', [trial, attempt]);
}
