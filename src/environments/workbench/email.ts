import { z } from 'zod';
import { defineTool, type Tool, type WorldSql } from '../define.ts';
import { cells, dateTime, given, text } from './arguments.ts';
import { append, cellsOf, comparisonOf, lockForAppend, nextId, removeById, rowById, type Cells, type OrderedTable } from './table.ts';
import { NOW, type Toolkit } from './toolkit.ts';

const EMAILS: OrderedTable = {
  name: 'emails',
  id: 'email_id',
  columns: ['email_id', 'inbox/outbox', 'sender/recipient', 'subject', 'sent_datetime', 'body'],
};

/** Sam's mailbox. */
export const email: Toolkit = {
  name: 'email',
  schema: new URL('./schema/email.sql', import.meta.url),
  files: [{ file: 'emails.csv', table: EMAILS.name, columns: EMAILS.columns }],
  comparison: comparisonOf(EMAILS),
  tools: ({ compat }) => [getEmail, searchEmails, sendEmail(compat), deleteEmail, forwardEmail(compat), replyEmail(compat)],
};

const getEmail = defineTool({
  name: 'email.get_email_information_by_id',
  description: 'Reads one field of an e-mail.',
  input: z.strictObject({
    email_id: text('Id of the e-mail, 8 digits.'),
    field: text(`One of ${EMAILS.columns.map((column) => `"${column}"`).join(', ')}.`),
  }),
  result: z.union([cells, z.string()]),
  effect: 'read',
  async run({ email_id: id, field }, { db }) {
    if (!given(id)) return 'Email ID not provided.';
    if (!given(field)) return 'Field not provided.';
    const row = await rowById(db, EMAILS, id);
    if (!row) return 'Email not found.';
    if (!EMAILS.columns.includes(field)) return 'Field not found.';
    return { [field]: row[field] ?? null };
  },
});

const searchEmails = defineTool({
  name: 'email.search_emails',
  description: 'Searches subject, body and address of all e-mails for every word of the query. Returns the newest 5 that match.',
  input: z.strictObject({
    query: text('Words to look for. Without: all e-mails.'),
    date_min: text('First day, YYYY-MM-DD, inclusive.'),
    date_max: text('Last day, YYYY-MM-DD, inclusive.'),
  }),
  result: z.union([z.array(cells), z.string()]),
  effect: 'read',
  failures: ['invalid_date'],
  async run({ query, date_min: dateMin, date_max: dateMax }, { db }) {
    const words = (query ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const first = given(dateMin) ? dateTime(dateMin).slice(0, 10) : null;
    const last = given(dateMax) ? dateTime(dateMax).slice(0, 10) : null;
    const rows = await db.query<Cells>(
      `select ${cellsOf(EMAILS)} from emails
       where not exists (
         select from unnest($1::text[]) as word
         where strpos(lower(coalesce(subject, '') || ' ' || coalesce(body, '') || ' ' || coalesce("sender/recipient", '')), word) = 0
       )
       and ($2::text is null or left(sent_datetime, 10) collate "C" >= $2)
       and ($3::text is null or left(sent_datetime, 10) collate "C" <= $3)
       order by sent_datetime collate "C" desc, position
       limit 5`,
      [words, first, last],
    );
    return rows.length > 0 ? rows : 'No emails found.';
  },
});

function sendEmail(compat: boolean): Tool {
  return defineTool({
    name: 'email.send_email',
    description: 'Sends an e-mail.',
    input: z.strictObject({
      recipient: text('E-mail address of the recipient.'),
      subject: text('Subject line.'),
      body: text('Text of the e-mail.'),
    }),
    result: z.string(),
    effect: 'write',
    failures: ['id_not_a_number'],
    run: ({ recipient, subject, body }, { db }) => send(db, compat, recipient, subject, body),
  });
}

const deleteEmail = defineTool({
  name: 'email.delete_email',
  description: 'Deletes an e-mail.',
  input: z.strictObject({ email_id: text('Id of the e-mail, 8 digits.') }),
  result: z.string(),
  effect: 'write',
  async run({ email_id: id }, { db }) {
    if (!given(id)) return 'Email ID not provided.';
    return (await removeById(db, EMAILS, id)) > 0 ? 'Email deleted successfully.' : 'Email not found.';
  },
});

function forwardEmail(compat: boolean): Tool {
  return defineTool({
    name: 'email.forward_email',
    description: 'Forwards an e-mail.',
    input: z.strictObject({ email_id: text('Id of the e-mail, 8 digits.'), recipient: text('E-mail address of the recipient.') }),
    result: z.string(),
    effect: 'write',
    failures: ['id_not_a_number'],
    async run({ email_id: id, recipient }, { db }) {
      if (!given(id) || !given(recipient)) return 'Email ID or recipient not provided.';
      const mail = await rowById(db, EMAILS, id);
      if (!mail) return 'Email not found.';
      const told = await send(db, compat, recipient, `FW: ${mail.subject ?? ''}`, mail.body);
      return told === SENT ? 'Email forwarded successfully.' : told;
    },
  });
}

function replyEmail(compat: boolean): Tool {
  return defineTool({
    name: 'email.reply_email',
    description: 'Replies to an e-mail, under its subject.',
    input: z.strictObject({ email_id: text('Id of the e-mail, 8 digits.'), body: text('Text of the reply.') }),
    result: z.string(),
    effect: 'write',
    failures: ['id_not_a_number'],
    async run({ email_id: id, body }, { db }) {
      if (!given(id) || !given(body)) return 'Email ID or body not provided.';
      const mail = await rowById(db, EMAILS, id);
      if (!mail) return 'Email not found.';
      const told = await send(db, compat, mail['sender/recipient'], mail.subject, body);
      return told === SENT ? 'Email replied successfully.' : told;
    },
  });
}

const SENT = 'Email sent successfully.';

type Argument = string | null | undefined;

async function send(db: WorldSql, compat: boolean, recipient: Argument, subject: Argument, body: Argument): Promise<string> {
  if (!given(recipient) || !given(subject) || !given(body)) return 'Recipient, subject, or body not provided.';
  if (!recipient.includes('@') || !recipient.includes('.')) return 'Invalid recipient email address.';
  await lockForAppend(db, EMAILS);
  const mail = {
    email_id: await nextId(db, EMAILS),
    'inbox/outbox': 'outbox',
    'sender/recipient': recipient.toLowerCase(),
    subject,
    sent_datetime: NOW,
    body,
  };
  if (compat) await placeByLabel(db, mail);
  else await append(db, EMAILS, mail);
  return SENT;
}

/** The published tools write a sent mail at the label that equals the number of rows. After a deletion that label may still be taken: that mail is lost. */
async function placeByLabel(db: WorldSql, mail: Cells): Promise<void> {
  const columns = EMAILS.columns.map((column) => mail[column]);
  const overwritten = await db.query(
    `update emails set email_id = $1, "inbox/outbox" = $2, "sender/recipient" = $3, subject = $4, sent_datetime = $5, body = $6
     where coalesce(label, position) = (select count(*) from emails)
     returning position`,
    columns,
  );
  if (overwritten.length > 0) return;
  const counted = await db.query<{ label: string }>('select count(*)::text as label from emails');
  await append(db, EMAILS, { ...mail, label: counted[0]?.label ?? '0' });
}
