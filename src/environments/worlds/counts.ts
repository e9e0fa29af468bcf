import type pg from 'pg';
import type { SweepReport } from '../world.ts';

/** Counts one lease that began, was given back, or was ended by a sweep. For people: what happens just before a crash may be missing. */
export async function count(admin: pg.Pool, what: keyof SweepReport['ever']): Promise<void> {
  await admin.query('SELECT nextval($1::regclass)', [`trialbed.worlds_${what}`]);
}

/** Counts since the host was prepared. */
export async function countsOf(admin: pg.Pool): Promise<SweepReport['ever']> {
  const { rows } = await admin.query<{ name: string; n: string }>(
    "SELECT sequencename AS name, coalesce(last_value, 0) AS n FROM pg_sequences WHERE schemaname = 'trialbed' AND starts_with(sequencename, 'worlds_')",
  );
  const of = (what: keyof SweepReport['ever']) => Number(rows.find(({ name }) => name === `worlds_${what}`)?.n ?? 0);
  return { made: of('made'), released: of('released'), swept: of('swept') };
}
