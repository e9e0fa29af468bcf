import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import type { Database } from './database.ts';
import { StoreMigrationError } from './errors.ts';

/** One file of `migrations/`, applied once, in order of name, and never changed afterwards. */
export interface Migration {
  /** `0001_initial.sql`. */
  readonly name: string;
  readonly sql: string;
  /** sha256 of the text, line ends aside. */
  readonly checksum: string;
}

/**
 * Brings the schema `trialbed` up to date in one transaction, under a lock that lets one process do so at a time.
 *
 * @throws {StoreMigrationError} when the database was migrated by a newer version, or a migration's file was changed after it was applied.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<readonly string[]> {
  return database.transaction(async (sql) => {
    await sql.query(`set local statement_timeout = '2min'`);
    await sql.query(`select pg_advisory_xact_lock(hashtextextended('trialbed store migrations', 0))`);
    await sql.query('create schema if not exists trialbed');
    await sql.query(
      'create table if not exists trialbed.migrations (name text collate "C" primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    const applied = await sql.query<{ name: string; checksum: string }>('select name, checksum from trialbed.migrations order by name');
    const pending = pendingMigrations(migrations, applied);
    for (const migration of pending) {
      await sql.query(migration.sql);
      await sql.query('insert into trialbed.migrations (name, checksum) values ($1, $2)', [migration.name, migration.checksum]);
    }
    return pending.map((migration) => migration.name);
  });
}

/** The migrations that lie beside this file. */
export async function ownMigrations(): Promise<readonly Migration[]> {
  const folder = new URL('./migrations/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => migrationOf(name, await readFile(new URL(name, folder), 'utf8'))));
}

/** A migration of this text. A checkout with other line ends gives the same checksum. */
export function migrationOf(name: string, text: string): Migration {
  const sql = text.replaceAll('\r\n', '\n');
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

function pendingMigrations(known: readonly Migration[], applied: readonly { readonly name: string; readonly checksum: string }[]): readonly Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum } of applied) {
    const migration = byName.get(name);
    if (migration === undefined) {
      throw new StoreMigrationError(
        'store_newer',
        `the store was migrated by a newer version of trialbed (${name} is not known here); install that version or a later one, or point the store at another database`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new StoreMigrationError(
        'store_migration_changed',
        `migration ${name} was changed after it was applied to this store; restore the file and put the change into a new migration`,
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  const last = applied.at(-1)?.name ?? '';
  const pending = known.filter((migration) => !done.has(migration.name));
  const early = pending.find((migration) => migration.name < last);
  if (early !== undefined) {
    throw new StoreMigrationError('store_migration_order', `migration ${early.name} comes before ${last}, which is applied already; give it a later number`);
  }
  return pending;
}
