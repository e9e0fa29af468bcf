import type pg from 'pg';
import { WorldGoneError } from '../world.ts';
import { isoUtc } from './journal.ts';
import { inSys, type Layout } from './layout.ts';

/** One lease of a world, as statements name it. */
export interface LeaseName {
  readonly id: string;
  readonly layout: Layout;
  readonly epoch: number;
}

/** How far a move of the clock goes: never back. */
export type Advance = { readonly seconds: number } | { readonly to: Date };

/**
 * Keeps the lease until the transaction of `client` ends, and tells whether its world is fenced.
 *
 * @throws {WorldGoneError} when the world has been given to another owner.
 */
export async function holdLease(client: pg.ClientBase, { id, layout, epoch }: LeaseName): Promise<{ readonly closed: boolean }> {
  const { rows } = await client.query<{ closed: boolean }>(`SELECT closed FROM ${inSys(layout, 'fence')} WHERE epoch IN ($1, $1 + 1) FOR SHARE`, [epoch]);
  const row = rows[0];
  if (!row) throw new WorldGoneError(id);
  return row;
}

/** World time in the transaction of `client`. */
export async function worldTime(client: pg.ClientBase, layout: Layout): Promise<Date> {
  const { rows } = await client.query<{ now: string }>(`SELECT ${isoUtc('now')} AS now FROM ${inSys(layout, 'clock')}`);
  return new Date(rows[0]?.now ?? 0);
}

/** Moves the world's clock, once for each key. In the transaction of `client`, which holds the lease. @returns the time then, also when asked again. */
export async function advanceClock(client: pg.ClientBase, layout: Layout, key: string, by: Advance): Promise<Date> {
  const once = inSys(layout, 'once');
  const name = `advance ${key}`;
  if (!(await firstTime(client, layout, name))) {
    const { rows } = await client.query<{ at: string | null }>(`SELECT ${isoUtc('at')} AS at FROM ${once} WHERE key = $1`, [name]);
    return new Date(rows[0]?.at ?? (await worldTime(client, layout)));
  }
  const to = 'to' in by ? 'greatest(now, $1::timestamptz)' : "now + greatest(0, $1::double precision) * interval '1 second'";
  await client.query(`UPDATE ${inSys(layout, 'clock')} SET now = ${to}`, ['to' in by ? by.to.toISOString() : by.seconds]);
  await client.query(`UPDATE ${once} SET at = (SELECT now FROM ${inSys(layout, 'clock')}) WHERE key = $1`, [name]);
  return worldTime(client, layout);
}

/** Whether nobody has done this before. Whoever asks at the same time waits until the first has committed. */
export async function firstTime(client: pg.ClientBase, layout: Layout, key: string): Promise<boolean> {
  const { rowCount } = await client.query(`INSERT INTO ${inSys(layout, 'once')} (key) VALUES ($1) ON CONFLICT DO NOTHING`, [key]);
  return rowCount === 1;
}
