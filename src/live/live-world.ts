import type { Effect } from '../domain/effect.ts';
import type { Ledger, LiveCall, LiveClients, World, WorldRef } from '../environments/world.ts';
import type { LiveSpaceRows } from '../store/live-spaces.ts';
import { NotLiveError } from './errors.ts';
import type { LiveService, Observed, RequestLog } from './live-service.ts';
import type { LivePart, LiveParts } from './parts.ts';

interface LiveSide {
  readonly parts: LiveParts;
  readonly rows: LiveSpaceRows;
  readonly key: string;
  readonly release: () => Promise<void>;
}

/** A world with accounts at real services: what happened there is asked of the services, and its own database has the rest. */
export function liveWorld(base: World, ref: WorldRef, side: LiveSide): World {
  const { parts, rows, key } = side;
  const observed = async (part: LivePart): Promise<Observed> => part.service.observe(part.space, await rows.requests(key, part.contract));
  return {
    ref,
    ledger: liveLedger(base.ledger, side, observed),
    faults: base.faults,
    columns: base.columns,
    live: clientsOf(side),
    transact: (operation, work, bound) => base.transact(operation, work, bound),
    preview: (queries) => base.preview(queries),
    serve: (operation) => base.serve(operation),
    served: (operation) => base.served(operation),
    loseServing: (operation) => base.loseServing(operation),
    clock: () => base.clock(),
    credentials: () => base.credentials(),
    async fence(options) {
      const fenced = await base.fence(options);
      const unanswered = async (part: LivePart) => (await rows.requests(key, part.contract)).some(({ answered }) => answered === null);
      // What got an answer is over; only what has none may still be under way.
      for (const part of parts) await part.service.fence(part.space, { drainMs: (await unanswered(part)) ? options.drainMs : 0 });
      await rows.fenced(key);
      return fenced;
    },
    async observe() {
      const own = await base.observe();
      const there = await Promise.all(parts.map(observed));
      return {
        ...own,
        effects: inOrder([own.effects, ...there.map(({ effects }) => effects)]),
        tables: Object.assign({}, own.tables, ...there.map(({ tables }) => tables)),
        live: Object.fromEntries(parts.map(({ contract }, index) => [contract, there[index]?.version ?? ''])),
      };
    },
    unexplained: () => base.unexplained(),
    snapshot: () => Promise.reject(new NotLiveError('a snapshot')),
    rows: (table) => base.rows(table),
    async release(options) {
      await side.release();
      return base.release(options);
    },
  };
}

function clientsOf({ parts, rows, key }: LiveSide): LiveClients {
  const client = <C>(part: { readonly contract: string; readonly service: LiveService<C>; readonly space: LivePart['space'] }) => {
    return (call: LiveCall): C => {
      const log: RequestLog = {
        sent: (sent) => rows.sent(key, part.contract, { operation: call.operation.id, attempt: call.operation.attempt, sent }),
        answered: (number, answer) => rows.answered(number, answer),
      };
      return part.service.client(part.space, call, log);
    };
  };
  return Object.fromEntries(parts.map((part) => [part.contract, part.contract === 'tickets' ? client(part) : client(part)])) as LiveClients;
}

/** A real service cannot fence one attempt of an operation: until its account has ended, what has had no answer may still come. */
function liveLedger(base: Ledger, { parts, rows, key }: LiveSide, observed: (part: LivePart) => Promise<Observed>): Ledger {
  return {
    propose: (proposal) => base.propose(proposal),
    read: (id) => base.read(id),
    readNow: (id) => base.readNow(id),
    settle: (id, attempt, end) => base.settle(id, attempt, end),
    awaitApproval: (id) => base.awaitApproval(id),
    grant: (id, digest) => base.grant(id, digest),
    deny: (id, problem) => base.deny(id, problem),
    explain: (id, attempt, detail) => base.explain(id, attempt, detail),
    tried: (id, tries) => base.tried(id, tries),
    all: () => base.all(),
    late: (attempt) => base.late(attempt),
    async recover(id, attempt) {
      const found = await base.recover(id, attempt);
      if (found.row?.state === 'committed' || found.effects > 0) return found;
      const asked = await Promise.all(parts.map(async (part) => (await rows.requests(key, part.contract)).some(({ operation }) => operation === id)));
      const there = await Promise.all(parts.filter((_, index) => asked[index]).map(observed));
      if (there.length === 0) return found;
      if (there.some(({ open }) => open.has(id))) return { ...found, open: true };
      const effects = there.flatMap((one) => one.effects.filter(({ operation }) => operation === id)).length;
      const fenced = (await rows.of(key)).every(({ state }) => state === 'fenced');
      return effects === 0 && !fenced ? { ...found, open: true } : { ...found, effects };
    },
  };
}

/** Each service has an order of its own; between them there is none, since their clocks differ. */
function inOrder(lists: readonly (readonly Effect[])[]): readonly Effect[] {
  const all: Effect[] = [];
  for (const list of lists) {
    const last = all.reduce((most, { seq }) => Math.max(most, seq), 0);
    all.push(...list.map((effect) => (last === 0 ? effect : { ...effect, seq: last + effect.seq })));
  }
  return all;
}
