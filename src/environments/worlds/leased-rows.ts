import type { Host } from '../hosts/host.ts';
import type { WorldRef } from '../world.ts';
import { worldById, type WorldRow, worldState } from './registry.ts';

/** Rows that are kept: as many worlds as may be leased to one process, and some more. */
const KEPT = 1000;

/**
 * Rows of leased worlds. While a lease stands nothing of its row changes, and the row is wide: every step of a trial asks whether its lease stands, and only the first
 * reads more than that.
 */
export class LeasedRows {
  /** By server and world id: the row of the lease that was seen last. */
  private readonly kept = new Map<string, WorldRow>();

  /** The row of this lease where it has been seen to stand; whether it still does is not asked. */
  seen(host: Host, ref: WorldRef): WorldRow | null {
    const known = this.kept.get(keyOf(host, ref.id));
    return known?.epoch === ref.epoch ? known : null;
  }

  /** The row of this lease; null: it is over. */
  async current(host: Host, ref: WorldRef): Promise<WorldRow | null> {
    const row = await this.byId(host, ref.id);
    return row?.state === 'leased' && row.epoch === ref.epoch ? row : null;
  }

  /** The row of a world as it is now; null: the host has none of that id. */
  async byId(host: Host, id: string): Promise<WorldRow | null> {
    const key = keyOf(host, id);
    const known = this.kept.get(key);
    if (known) {
      const now = await worldState(host.admin, id);
      if (now?.state === 'leased' && now.epoch === known.epoch) return known;
      this.kept.delete(key);
    }
    const row = await worldById(host.admin, id);
    if (row?.state === 'leased') this.keep(host, row);
    return row;
  }

  /** The row of a lease that stands. */
  keep(host: Host, row: WorldRow): void {
    this.kept.set(keyOf(host, row.id), row);
    const oldest = this.kept.keys().next();
    if (this.kept.size > KEPT && !oldest.done) this.kept.delete(oldest.value);
  }
}

/** Every server is asked for a world that it may have. */
function keyOf({ name }: Host, world: string): string {
  return `${name} ${world}`;
}
