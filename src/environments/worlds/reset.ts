import type pg from 'pg';
import { catalogueDigest, catalogueStamp, positionsOf, setSequences } from './catalogue.ts';
import { CHANGES } from './changes-ddl.ts';
import { FAULT_TABLES } from './fault-ddl.ts';
import { differences, fingerprint } from './fingerprint.ts';
import { generationRecord } from './generation-record.ts';
import { readJournal, replay, touchedUnlikeSeed } from './journal.ts';
import { inSys } from './layout.ts';
import type { WorldRow } from './registry.ts';

/** A world with more changes is made anew: undoing them would cost more. */
const JOURNAL_LIMIT = 2000;

/** One reset in so many reads the whole world instead of only the touched rows. */
const FULL_CHECK_EVERY = 100;

/** Why a world must not be used again. */
export interface Doubt {
  readonly why: string;
  /** Something in it is other than its journal says. */
  readonly unlike: boolean;
}

/** Undoes a fenced world's journal and checks that it is as its seed again, in the transaction of `client`. Null: it may be used again. */
export async function resetWorld(client: pg.ClientBase, row: WorldRow): Promise<Doubt | null> {
  const { layout, tables, generation } = row;
  const journal = await readJournal(client, layout, 'all', JOURNAL_LIMIT + 1);
  if (journal.length > JOURNAL_LIMIT) return { why: `its journal holds more than ${JOURNAL_LIMIT} changes`, unlike: false };
  const expected = await generationRecord(client, generation);
  if (!expected) return { why: 'its generation has no record', unlike: false };
  await replay(client, tables, journal, 'back');
  await setSequences(client, layout, row.sequences);
  await client.query(
    ['journal', 'mails', 'operations', 'attempts', 'late', ...FAULT_TABLES, CHANGES].map((name) => `DELETE FROM ${inSys(layout, name)};`).join(' ') +
      ` SELECT ${['seq', 'faults_n_seq', 'changes_n_seq'].map((name) => `setval('${inSys(layout, name)}', 1, false)`).join(', ')};`,
  );
  const unlike = await touchedUnlikeSeed(client, generation, tables, journal);
  // One that was not there before is found in the catalogue.
  const names = Object.keys(row.sequences);
  const sequences = await positionsOf(client, layout, names);
  if (names.some((name) => sequences[name] !== row.sequences[name])) unlike.push('sequences');
  if ((row.resets + 1) % FULL_CHECK_EVERY === 0) unlike.push(...differences(expected, await fingerprint(client, layout, tables)));
  else if ((await catalogueStamp(client, layout)) !== row.stamp && (await catalogueDigest(client, layout)) !== expected.catalogue) unlike.push('catalogue');
  return unlike.length === 0 ? null : { why: `after its journal was undone it differs from its seed (${unlike.join(', ')})`, unlike: true };
}
