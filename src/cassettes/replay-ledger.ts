import type { LateAttempt } from '../domain/effect.ts';
import type { JsonObject } from '../domain/json.ts';
import { type Ledger, type LedgerRow, WorldGoneError } from '../environments/world.ts';
import type { CassetteOperation, CassetteWorldRows } from '../store/cassette-worlds.ts';

/** How many effects came with the interaction that answered an operation. */
export type EffectsOf = (entry: number) => Promise<number>;

/** The ledger of an attempt that is played on a cassette: it lies in the store, since there is no world. */
export function replayLedger(rows: CassetteWorldRows, world: { readonly id: string; readonly trial: string }, effectsOf: EffectsOf): Ledger {
  const { id } = world;
  const change = async (operation: string, changed: (row: LedgerRow) => LedgerRow | null): Promise<void> => {
    await rows.change(id, operation, (own) => {
      const row = changed(rowOf(own));
      return row && { entry: own.entry, body: bodyOf(row) };
    });
  };
  return {
    async propose(proposal) {
      const clock = await rows.clock(id);
      if (!clock) throw new WorldGoneError(id);
      const row: LedgerRow = {
        ...proposal,
        state: proposal.refusal?.state ?? 'proposed',
        problem: proposal.refusal?.problem ?? null,
        ...{ attempt: 0, granted: null, result: null, detail: null, durationMs: null, tries: 1 },
        at: clock.now.toISOString(),
      };
      if (!(await rows.add(world, proposal.id, bodyOf(row)))) throw new WorldGoneError(id);
      return null;
    },
    async read(operation) {
      const found = await rows.read(id, operation);
      return found?.operation ? rowOf(found.operation) : null;
    },
    async readNow(operation) {
      const found = await rows.read(id, operation);
      if (!found) throw new WorldGoneError(id);
      return found.operation && { row: rowOf(found.operation), clock: found.clock };
    },
    all: async () => (await rows.all(id)).map(rowOf),
    settle: (operation, attempt, { state, result, problem, durationMs }) =>
      change(operation, (row) =>
        row.state === 'committed' || row.attempt > attempt ? null : { ...row, state, attempt, result: result ?? null, problem: problem ?? null, durationMs },
      ),
    awaitApproval: (operation) => change(operation, (row) => (row.state === 'proposed' ? { ...row, state: 'awaiting_approval' } : null)),
    grant: (operation, digest) =>
      change(operation, (row) =>
        row.granted === null && (row.state === 'proposed' || row.state === 'awaiting_approval') ? { ...row, granted: digest } : null,
      ),
    deny: (operation, problem) => change(operation, (row) => (row.state === 'committed' ? null : { ...row, state: 'denied', problem, granted: null })),
    explain: (operation, attempt, detail) => change(operation, (row) => (row.attempt > attempt ? null : { ...row, detail })),
    tried: (operation, tries) => change(operation, (row) => ({ ...row, tries: Math.max(row.tries, tries) })),
    async recover(operation) {
      const found = await rows.read(id, operation);
      if (!found?.operation) return { row: null, effects: 0 };
      const { entry } = found.operation;
      return { row: rowOf(found.operation), effects: entry === null ? 0 : await effectsOf(entry) };
    },
    async late(attempt) {
      const clock = await rows.clock(id);
      const late: LateAttempt = { ...attempt, at: (clock?.now ?? new Date(0)).toISOString() };
      await rows.late(id, { ...late });
    },
  };
}

export function rowOf({ body }: CassetteOperation): LedgerRow {
  return body as unknown as LedgerRow;
}

export function bodyOf(row: LedgerRow): JsonObject {
  return JSON.parse(JSON.stringify(row)) as JsonObject;
}
