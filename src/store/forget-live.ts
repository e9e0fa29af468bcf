import type { Sql } from './database.ts';

/** The attempt has ended, and with it every need for messages as they were, of it and of those before it. */
export async function forgetLive(sql: Sql, trial: string, attempt: number): Promise<void> {
  await sql.query('update trialbed.conversation set exact = null where trial = $1 and attempt <= $2 and exact is not null', [trial, attempt]);
}

/** The newest attempt of each trial that has messages as they were, and no end. */
export async function liveConversations(sql: Sql): Promise<readonly { readonly trial: string; readonly attempt: number }[]> {
  return sql.query('select trial, max(attempt) as attempt from trialbed.conversation where exact is not null group by trial order by trial');
}
