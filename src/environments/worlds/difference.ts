import type pg from 'pg';
import { sqlState } from '../hosts/connection.ts';
import { JournalMismatchError } from './errors.ts';
import { differences, type Fingerprint, fingerprint } from './fingerprint.ts';
import { readJournal, replay } from './journal.ts';
import type { WorldRow } from './registry.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * What of a world differs from its seed and stands in no journal: the journal is taken back, the whole world compared with its generation, catalogue included, and all
 * of it rolled back. Names `catalogue`, or tables as `table orders`; empty: the journal explains everything. Null: the server does not permit to look, or the generation
 * has no record.
 */
export async function unexplainedDifference(
  admin: pg.Pool,
  { layout, tables }: Pick<WorldRow, 'layout' | 'tables'>,
  expected: Fingerprint | null,
): Promise<readonly string[] | null> {
  if (expected === null) return null;
  const client = await admin.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    const found = await differing(client, { layout, tables }, expected);
    await client.query('ROLLBACK');
    broken = false;
    return found;
  } finally {
    client.release(broken);
  }
}

async function differing(client: pg.ClientBase, { layout, tables }: Pick<WorldRow, 'layout' | 'tables'>, expected: Fingerprint): Promise<string[] | null> {
  try {
    await replay(client, tables, await readJournal(client, layout, 'all'), 'back');
    return differences(expected, await fingerprint(client, layout, tables));
  } catch (error) {
    if (error instanceof JournalMismatchError) return [`table ${error.table}`];
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return null;
    throw error;
  }
}
