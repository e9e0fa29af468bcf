import type { Root } from '../worker/root.ts';

/** How the worlds of a batch stand that its summary tells of. */
export interface WorldCounts {
  /** Leased still. */
  readonly leased: number;
  /** Other than their journal says at the end of a lease. */
  readonly unlike: number;
}

export async function worldCounts({ worlds }: Pick<Root, 'worlds'>, batch: string): Promise<WorldCounts> {
  const [leased, unlike] = await Promise.all([worlds.leased(`${batch}-`), worlds.unlike(`${batch}-`)]);
  return { leased, unlike };
}
