import type pg from 'pg';
import type { Queryable } from './registry.ts';

/** Characters of a reason. */
const MAX_WHY = 400;

/** Notes that a world was other than its journal says when its lease ended. */
export async function noteUnlike(admin: pg.Pool, world: { readonly id: string; readonly owner: string | null }, why: string): Promise<void> {
  await admin.query('INSERT INTO trialbed.unlike (world, owner, why) VALUES ($1, $2, $3)', [world.id, world.owner ?? '', why.slice(0, MAX_WHY)]);
}

/** How many there were of owners whose name begins so. */
export async function unlikeCount(client: Queryable, ownerPrefix: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM trialbed.unlike WHERE starts_with(owner, $1)', [ownerPrefix]);
  return rows[0]?.n ?? 0;
}
