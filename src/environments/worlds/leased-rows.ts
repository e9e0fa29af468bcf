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
  /** By world id: the row of the lease that was seen last. */
  private readonly kept = new Map<string, WorldRow>();

  /** The row of this lease; null: it is over. `seen`: one that was seen to stand is taken to stand. */
  async current(host: Host, ref: WorldRef, { seen = false } = {}): Promise<WorldRow | null> {
    const known = seen ? this.kept.get(ref.id) : undefined;
    if (known?.epoch === ref.epoch) return known;
    const row = await this.byId(host, ref.id);
    return row?.state === 'leased' && row.epoch === ref.epoch ? row : null;
  }

  /** The row of a world as it is now; null: the host has none of that id. */
  async byId(host: Host, id: string): Promise<WorldRow | null> {
    const known = this.kept.get(id);
    if (known) {
      const now = await worldState(host.admin, id);
      if (now?.state === 'leased' && now.epoch === known.epoch) return known;
      this.kept.delete(id);
    }
    const row = await worldById(host.admin, id);
    if (row?.state === 'leased') this.keep(row);
    return row;
  }

  /** The row of a lease that stands. */
  keep(row: WorldRow): void {
    this.kept.set(row.id, row);
    const oldest = this.kept.keys().next();
    if (this.kept.size > KEPT && !oldest.done) this.kept.delete(oldest.value);
  }
}
