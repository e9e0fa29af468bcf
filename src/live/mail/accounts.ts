import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** An account of a mail server whose accounts lie in PostgreSQL. */
export interface MailAccount {
  readonly login: string;
  readonly password: string;
  /** It sends from and to this domain and those below it, and reads what has come to them. */
  readonly domain: string;
  readonly until: Date;
}

/** The one table of the server that the test bed writes: see `infra/live/mail/accounts.sql`. */
export interface MailAccounts {
  /** Makes accounts, or makes them anew. */
  put(accounts: readonly MailAccount[]): Promise<void>;
  /** From now on it may not log in. */
  disable(login: string): Promise<void>;
  remove(domain: string): Promise<void>;
}

/** Longest time that the server of accounts may take for an answer. */
const PATIENCE_MS = 10_000;

/** Accounts behind a URL of PostgreSQL. */
export function mailAccounts(url: string): MailAccounts {
  const query = async <Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> => {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS, query_timeout: PATIENCE_MS, application_name: 'trialbed' });
    // A server that goes away between two answers is told by the next one.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  return {
    async put(accounts) {
      const rows = accounts.map((account) => ({ ...account, password: hashed(account.password) }));
      await query(
        `insert into trialbed_accounts (login, password, domain, until) select login, password, domain, until
           from json_to_recordset($1) as made (login text, password text, domain text, until timestamptz)
         on conflict (login) do update set password = excluded.password, enabled = true, until = excluded.until`,
        [JSON.stringify(rows)],
      );
    },
    async disable(login) {
      await query('update trialbed_accounts set enabled = false where login = $1', [login]);
    },
    async remove(domain) {
      await query('delete from trialbed_accounts where domain = $1', [domain]);
    },
  };
}

/** As Dovecot and others read it. The passwords are long and random, so that one round is enough. */
function hashed(password: string): string {
  const salt = randomBytes(16);
  const digest = createHash('sha512').update(password).update(salt).digest();
  return `{SSHA512}${Buffer.concat([digest, salt]).toString('base64')}`;
}
