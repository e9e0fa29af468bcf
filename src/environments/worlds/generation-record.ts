import type pg from 'pg';
import { relationOf, type Tables } from './catalogue.ts';
import { FingerprintError } from './errors.ts';
import { differences, type Fingerprint, keyOf, rowHash } from './fingerprint.ts';

/**
 * Compares a world just made with its generation; the first world of a generation says what the others must be.
 *
 * @throws {FingerprintError} when it differs.
 */
export async function checkGeneration(client: pg.ClientBase | pg.Pool, generation: string, found: Fingerprint): Promise<void> {
  await client.query('INSERT INTO trialbed.generations (generation, catalogue, contents) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    generation,
    found.catalogue,
    JSON.stringify(found.contents),
  ]);
  const expected = await generationRecord(client, generation);
  const unlike = expected ? differences(expected, found) : [];
  if (unlike.length > 0) throw new FingerprintError(generation, unlike);
}

export async function generationRecord(client: pg.ClientBase | pg.Pool, generation: string): Promise<Fingerprint | null> {
  const { rows } = await client.query<Fingerprint>('SELECT catalogue, contents FROM trialbed.generations WHERE generation = $1', [generation]);
  return rows[0] ?? null;
}

/** Keeps the hashes of the seed's rows once for each generation, from a world just made. In the transaction that made it. */
export async function keepSeedRows(client: pg.ClientBase, generation: string, tables: Tables): Promise<void> {
  const first = await client.query('UPDATE trialbed.generations SET rows_kept = true WHERE generation = $1 AND NOT rows_kept', [generation]);
  if (!first.rowCount) return;
  for (const table of Object.values(tables)) {
    if (table.key.length === 0) continue;
    await client.query(
      `INSERT INTO trialbed.seed_rows (generation, tbl, key, hash) SELECT $1, $2, md5((${keyOf(table, 't')})::text), ${rowHash('t')} FROM ${relationOf(table)} t`,
      [generation, table.name],
    );
  }
}
