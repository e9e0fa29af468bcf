import { createHash } from 'node:crypto';
import { WorldServerAwayError } from '../world.ts';
import { RestoreError } from './errors.ts';
import { roomFor, type WorldRow } from './registry.ts';
import type { ReadyServer, WorldServer, WorldServers } from './servers.ts';

/** Worlds whose server is remembered: as many as may be in flight in a process, and some more. */
const REMEMBERED = 2_000;

interface Needs {
  readonly replays: boolean;
  readonly beside: boolean;
}

/** Which server a world is made on, and which one holds it. */
export class Placement {
  private readonly servers: WorldServers;
  /** By owner: one at a time, so that the second asks for its world where the first has made it. */
  private readonly placing = new Map<string, Promise<unknown>>();
  /** By world id; a guess where to look first. */
  private readonly places = new Map<string, WorldServer>();

  constructor(servers: WorldServers) {
    this.servers = servers;
  }

  /**
   * Makes an owner's world on the server that has it already, else on the one with the most room: the fewest leases for the connections that it may have. An owner
   * whose server does not answer gets another world elsewhere; the first one dies with its lease or its workflow.
   *
   * `replays`: only on a server whose administrator can restore snapshots. `beside`: what is made is a server of its own, whose troubles are not those of this one.
   *
   * @throws {WorldServerAwayError} when none answers; {RestoreError} where none restores
   */
  async place<T extends { readonly id: string }>(owner: string, needs: Needs, make: (ready: ReadyServer) => Promise<T>): Promise<T> {
    const before = this.placing.get(owner);
    const made = (before ?? Promise.resolve()).catch(() => undefined).then(() => this.placeNow(owner, needs, make));
    this.placing.set(owner, made);
    try {
      return await made;
    } finally {
      if (this.placing.get(owner) === made) this.placing.delete(owner);
    }
  }

  /** Looks for the row of a world: first where it is said or known to be, then everywhere. `seen`: gives one without asking, where it has it. Null: no server that answers has it. @throws {WorldServerAwayError} when the one it is said to be on is away */
  async find(
    { id, host }: { readonly id: string; readonly host: string | null },
    look: (ready: ReadyServer) => Promise<WorldRow | null>,
    seen: (ready: ReadyServer) => WorldRow | null = () => null,
  ): Promise<{
    readonly row: WorldRow;
    readonly ready: ReadyServer;
  } | null> {
    const first = this.places.get(id) ?? (host === null ? null : this.servers.named(host));
    // Of one that is known to be away only a question tells whether it is back.
    const answering = first?.answering ?? null;
    const known = answering && seen(answering);
    if (answering && known) return { row: known, ready: answering };
    const at = async (server: WorldServer) =>
      server.reach(async (ready) => {
        const row = await look(ready);
        return row && { row, ready };
      });
    const there = first && (await at(first));
    if (there) return there;
    // Workers may know a server by different names, and services know none.
    const answers: { readonly row: WorldRow; readonly ready: ReadyServer }[] = [];
    const away: WorldServerAwayError[] = [];
    for (const server of this.servers.all) {
      if (server === first || answers.length > 0) continue;
      try {
        const found = await at(server);
        if (found) answers.push(found);
        if (found) this.remember(id, server);
      } catch (error) {
        if (!(error instanceof WorldServerAwayError)) throw error;
        away.push(error);
      }
    }
    if (answers[0]) return answers[0];
    if (first === null && away[0]) throw away[0];
    return null;
  }

  private async placeNow<T extends { readonly id: string }>(owner: string, { replays, beside }: Needs, make: (ready: ReadyServer) => Promise<T>): Promise<T> {
    const server = await this.choose(owner, replays);
    server.placing++;
    try {
      const makes = async (ready: ReadyServer) => {
        if (replays && !ready.host.canReplay) throw new RestoreError('the administrator of the world host may not set session_replication_role');
        return make(ready);
      };
      const made = await (beside ? makes(await server.reach(async (ready) => ready)) : server.reach(makes));
      this.remember(made.id, server);
      return made;
    } finally {
      server.placing--;
    }
  }

  private async choose(owner: string, replays: boolean): Promise<WorldServer> {
    const [only] = this.servers.all;
    if (only && this.servers.all.length === 1) return only;
    // By the connections for sessions that are in the way: the others may all be waiting.
    const asked = await this.servers.ask(async ({ host }) => ({ ...(await roomFor(host.control, owner)), canReplay: host.canReplay }));
    const known = asked.find(({ answer }) => answer.holds);
    if (known) return known.server;
    const fit = asked.filter(({ answer }) => !replays || answer.canReplay);
    const load = ({ server, answer }: (typeof asked)[number]) => (answer.leased + server.placing) / server.connections;
    const [best] = fit.sort((a, b) => load(a) - load(b) || rank(owner, a.server) - rank(owner, b.server));
    if (!best) throw new RestoreError('no administrator of a world host may set session_replication_role');
    return best.server;
  }

  private remember(id: string, server: WorldServer): void {
    if (this.servers.all.length === 1) return;
    this.places.set(id, server);
    const oldest = this.places.keys().next();
    if (this.places.size > REMEMBERED && !oldest.done) this.places.delete(oldest.value);
  }
}

/** Spreads owners that come at the same moment over servers that are equally free. */
function rank(owner: string, { name }: WorldServer): number {
  return createHash('sha256').update(`${owner}\0${name}`).digest().readUInt32BE(0);
}
