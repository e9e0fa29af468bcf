import type { ChatMessage } from '../domain/chat.ts';
import type { JsonObject } from '../domain/json.ts';
import { ofAttempt } from './attempts.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/** One message between a model and whoever asked it. */
export interface ConversationEntry {
  readonly who: 'agent' | 'user';
  /** Which agent of several; null: the trial's only one. */
  readonly agent: string | null;
  /** Place in the conversation of that side, from 1. */
  readonly seq: number;
  readonly role: ChatMessage['role'];
  /** Id of the model call that it came with or from; null: none. */
  readonly call: string | null;
  /** What is kept: redacted and bounded by whoever adds it. */
  readonly body: JsonObject;
}

/** An entry of a conversation that must be able to go on, with the message as it was. It is forgotten when the attempt ends. */
export interface LiveEntry extends ConversationEntry {
  readonly exact: ChatMessage;
}

/** Of one attempt so much is kept, in characters of JSON; of what comes beyond, the place alone. */
const MAX_KEPT = 8_000_000;
const OMITTED = JSON.stringify({ omitted: true });

/** Each place is kept once: the first entry stands. */
export async function addConversation(sql: Sql, trial: string, attempt: number, entries: readonly (ConversationEntry | LiveEntry)[]): Promise<void> {
  if (entries.length === 0) return;
  const [{ kept } = { kept: 0 }] = await sql.query<{ kept: number }>(
    'select coalesce(sum(length(body::text)), 0)::float8 as kept from trialbed.conversation where trial = $1 and attempt = $2',
    [trial, attempt],
  );
  let room = MAX_KEPT - kept;
  const bodies = entries.map(({ body }) => {
    const text = JSON.stringify(body);
    if (text.length > room) return OMITTED;
    room -= text.length;
    return text;
  });
  await ofAttempt(trial, attempt, () =>
    sql.query(
      `insert into trialbed.conversation (trial, attempt, who, agent, seq, role, call, body, exact)
       select $1, $2, who, agent, seq, role, call, body, exact
       from unnest($3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::json[], $9::json[]) as added (who, agent, seq, role, call, body, exact)
       on conflict do nothing`,
      [
        trial,
        attempt,
        entries.map(({ who }) => who),
        entries.map(({ agent }) => agent ?? ''),
        entries.map(({ seq }) => seq),
        entries.map(({ role }) => role),
        entries.map(({ call }) => call),
        bodies.map((body) => sql.sealing.sealedText(body, placeOf('conversation', 'body', trial))),
        entries.map((entry) => ('exact' in entry ? sql.sealing.text(entry.exact, placeOf('conversation', 'exact', trial)) : null)),
      ],
    ),
  );
}

/** What is kept of an attempt's conversations, side by side, each in order. */
export async function listConversation(sql: Sql, trial: string, attempt: number): Promise<readonly ConversationEntry[]> {
  const rows = await sql.query<ConversationEntry>(
    `select who, nullif(agent, '') as agent, seq, role, call, body from trialbed.conversation where trial = $1 and attempt = $2 order by who, agent, seq`,
    [trial, attempt],
  );
  return rows.map((row) => ({ ...row, body: sql.sealing.open(row.body, placeOf('conversation', 'body', trial)) }));
}

/** The messages of one side as they were, while its attempt lives. */
export async function liveConversation(
  sql: Sql,
  trial: string,
  attempt: number,
  side: Pick<ConversationEntry, 'who' | 'agent'>,
): Promise<readonly ChatMessage[]> {
  const rows = await sql.query<{ exact: ChatMessage }>(
    `select exact from trialbed.conversation where trial = $1 and attempt = $2 and who = $3 and agent = $4 and exact is not null order by seq`,
    [trial, attempt, side.who, side.agent ?? ''],
  );
  return rows.map(({ exact }) => sql.sealing.open(exact, placeOf('conversation', 'exact', trial)));
}
