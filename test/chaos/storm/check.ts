import type { TrialRecord } from '../../../src/domain/record.ts';
import type { TrialRow } from '../../../src/store/store.ts';
import type { Root } from '../../../src/worker/root.ts';
import { sweep } from '../../../src/client/sweep.ts';
import { type Observed, observed } from '../observed.ts';
import { unsoundness } from '../sound.ts';
import { isLost } from './lost.ts';
import { processes } from './processes.ts';

/** Two batches of equal content. */
export interface Pair {
  readonly suite: string;
  readonly struck: string;
  readonly undisturbed: string;
}

export interface Checked {
  readonly trials: number;
  /** Trials that were equal in every operation, effect and message as well. */
  readonly equalThroughout: number;
  readonly disturbed: number;
  readonly furtherAttempts: number;
  readonly violations: readonly string[];
}

/** One verdict for each trial, ledger and effects agreeing, and the verdict of the undisturbed run. */
export async function checkPair({ store }: Root, pair: Pair): Promise<Checked> {
  const violations: string[] = [];
  const nameOf = (row: TrialRow) => `${pair.suite}: ${row.caseId} ${row.agentName} ${row.repetition}`;
  const undisturbed = new Map((await store.trials(pair.undisturbed)).map((row) => [nameOf(row), row]));
  const rows = await store.trials(pair.struck);
  if (rows.length !== undisturbed.size) violations.push(`${pair.suite}: ${rows.length} trials, ${undisturbed.size} of them undisturbed`);
  let [equalThroughout, disturbed, furtherAttempts] = [0, 0, 0];
  for (const row of rows) {
    const name = `${nameOf(row)} (${row.id})`;
    try {
      const other = undisturbed.get(nameOf(row));
      if (!row.summary || !other?.summary) throw new Error('it has no result');
      if (isLost(row)) throw new Error('it has no verdict');
      const [mine, theirs] = [await observed(store, row.summary), await observed(store, other.summary)];
      const [record, snapshot] = [await store.record(row.id, row.summary.attempt), await store.snapshot(row.summary.snapshot ?? '')];
      if (verdictOf(mine) !== verdictOf(theirs))
        violations.push(`${name}: its verdict is ${verdictOf(mine)}, undisturbed ${verdictOf(theirs)}; its operations: ${operationsOf(record)}`);
      else if (JSON.stringify(mine) === JSON.stringify(theirs)) equalThroughout++;
      if (!record || !snapshot) throw new Error(record ? 'it has no snapshot' : 'it has no record');
      violations.push(...unsoundness(record, snapshot.snapshot).map((wrong) => `${name}: ${wrong}`));
      if (row.summary.disturbed) disturbed++;
      if (row.summary.attempt > 1) furtherAttempts++;
    } catch (error) {
      const summary = row.summary && `${row.summary.ending}: ${row.summary.why}`;
      violations.push(`${name}: ${error instanceof Error ? error.message : String(error)} (${summary ?? row.phase})`);
    }
  }
  return { trials: rows.length, equalThroughout, disturbed, furtherAttempts, violations };
}

/** What the sweeper dropped, and what is left although it was there: worlds, databases, roles, processes of agents. */
export async function leaks(root: Root, folder: string): Promise<{ readonly swept: number; readonly left: readonly string[] }> {
  const first = await sweep(root, {});
  const { live, swept, leaked } = await sweep(root, {});
  const agents = (await processes()).filter(({ args }) => args.includes(folder) && args.includes('desk.mjs'));
  const left = [
    ...(live > 0 ? [`${live} worlds are leased`] : []),
    ...swept.map(({ world, reason }) => `world ${world} was found only by the second sweep (${reason})`),
    ...(leaked > 0 ? [`${leaked} worlds are in no registry`] : []),
    ...agents.map(({ pid, args }) => `process ${pid} of an agent: ${args}`),
  ];
  return { swept: first.swept.length, left };
}

/** Enough to see what led to another verdict. */
function operationsOf(record: TrialRecord | null): string {
  return JSON.stringify(
    record?.operations.map(({ id, tool, told, known, problem, detail, disturbed }) => ({ id, tool, told, known, problem, detail, disturbed })),
  );
}

function verdictOf({ ending, pass, findings }: Observed): string {
  return JSON.stringify([ending, pass, findings]);
}
