import type { CaseCassette } from '../domain/cassette.ts';
import type { LateAttempt } from '../domain/effect.ts';
import { FencedError, type LedgerRow, type ReplayedAnswer, type World, type WorldFaults, WorldGoneError, type WorldRef } from '../environments/world.ts';
import type { CassetteOperation, CassetteWorldRows } from '../store/cassette-worlds.ts';
import { bodyOf, replayLedger, rowOf } from './replay-ledger.ts';
import { replayedEffects, replayedFaults, routeOf } from './route.ts';
import { Shelf } from './shelf.ts';

/** Something was asked of a cassette that only a world has, such as its rows. */
export class NotInCassetteError extends Error {
  override readonly name = 'NotInCassetteError';
  readonly code = 'not_in_cassette';

  constructor(what: string) {
    super(`${what} needs a world, and this trial is played on a cassette; run the case without --cassettes`);
  }
}

/** A cassette, ready to be asked. */
export interface Playing {
  readonly played: CaseCassette;
  readonly shelf: Shelf;
}

export function playing(played: CaseCassette): Playing {
  return { played, shelf: new Shelf(played) };
}

/** What stands for the world of an attempt that is played on a cassette. It has a clock and a ledger, in the store, and no database, inbox or ticket service. */
export function replayWorld(rows: CassetteWorldRows, ref: WorldRef, trial: string, load: () => Promise<Playing>): World {
  const { id } = ref;
  const ledger = replayLedger(rows, { id, trial }, async (entry) => (await load()).shelf.interactions[entry]?.effects.length ?? 0);
  const clock = async () => {
    const found = await rows.clock(id);
    if (!found) throw new WorldGoneError(id);
    return found;
  };
  return {
    ref,
    ledger,
    faults: replayFaults(rows, id),
    columns: {},
    clock,
    replay: async ({ operation, attempt, ...under }) => {
      const { shelf } = await load();
      let answer: ReplayedAnswer | null = null;
      const changed = await rows.change(id, operation, (own, all, { closed }) => {
        const row = rowOf(own);
        const found = own.entry ?? (closed ? null : shelf.find({ tool: row.tool, args: row.args, ...under }, usedOf(all)));
        if (found === null) throw new FencedError(`operation ${operation}`);
        if (typeof found !== 'number') {
          const problem = { code: 'not_as_recorded', message: found.miss };
          answer = { state: 'missing', why: found.miss };
          return { entry: null, body: bodyOf({ ...row, attempt, state: 'failed', problem, durationMs: 0 }) };
        }
        const settled = settledRow(shelf, found, { ...row, attempt });
        answer = settled.answer;
        return { entry: found, body: bodyOf(settled.row) };
      });
      if (!changed || !answer) throw new WorldGoneError(id);
      return answer;
    },
    transact: () => Promise.reject(new NotInCassetteError('a transaction')),
    preview: async (queries) => queries.map(({ table, where }) => ({ table, where, rows: [] })),
    serve: () => Promise.reject(new NotInCassetteError('a tool server')),
    served: async () => {},
    loseServing: async () => false,
    credentials: async () => ({ user: id, toolSecret: '', agentSecret: '', sqlUrl: null, server: null }),
    fence: async () => {
      await rows.close(id);
      return { epoch: ref.epoch + 1 };
    },
    observe: async () => {
      const { played } = await load();
      const answered = (await rows.all(id)).flatMap((operation) => (operation.entry === null ? [] : [{ operation: operation.id, entry: operation.entry }]));
      return {
        effects: replayedEffects(played, answered),
        lateAttempts: (await rows.lateAttempts(id)) as unknown as readonly LateAttempt[],
        tables: played.cassette.tables,
        replayed: { route: routeOf(played, answered), faults: replayedFaults(played, answered) },
      };
    },
    unexplained: async () => null,
    snapshot: () => Promise.reject(new NotInCassetteError('a snapshot')),
    rows: async () => [],
    release: async () => {
      await rows.drop(id);
      return 'dropped';
    },
  };
}

/** The ledger's row of a call that an interaction answers, and what the agent is told of it. */
function settledRow(shelf: Shelf, place: number, row: LedgerRow): { readonly row: LedgerRow; readonly answer: ReplayedAnswer } {
  const recorded = shelf.interactions[place];
  if (!recorded) throw new NotInCassetteError(`interaction ${place + 1}`);
  const { told, result, known } = recorded;
  const problem = recorded.problem ?? { code: 'unknown_error', message: 'The recording does not say why.' };
  // What the agent is not told stands in the ledger all the same, for a look-up.
  const state = known === 'committed' ? 'committed' : told === 'committed' ? 'committed' : told;
  return {
    row: { ...row, state, result, problem: state === 'committed' ? null : problem, durationMs: 0 },
    answer: told === 'committed' ? { state: told } : { state: told, problem },
  };
}

function usedOf(all: readonly CassetteOperation[]): ReadonlySet<number> {
  return new Set(all.flatMap(({ entry }) => entry ?? []));
}

/** No schedule acts on a cassette: what went wrong when it was recorded is in the recording. */
function replayFaults(rows: CassetteWorldRows, id: string): WorldFaults {
  const never = (what: string) => () => Promise.reject(new NotInCassetteError(what));
  return {
    record: never('a fault'),
    injected: async () => [],
    hit: async () => false,
    arm: never('a fault'),
    change: never('a fault'),
    freeze: never('a fault'),
    frozen: async () => null,
    readAsOf: never('a stale read'),
    limitedUntil: async () => null,
    limit: never('a limit'),
    // The call that was then void is not in the recording, and nothing else may be told of it.
    changeWhileWaiting: async () => {},
    async advance(key, by) {
      const clock = await rows.advance(id, key, by);
      if (!clock) throw new WorldGoneError(id);
      return clock.now;
    },
  };
}
