import { nearestName } from '../../domain/text/nearest.ts';
import type { TrialPhase } from '../../domain/trial.ts';
import type { WorldSnapshot } from '../../environments/world.ts';
import { PointError } from '../../environments/worlds/errors.ts';
import { pointsOf, snapshotAt } from '../../environments/worlds/snapshot-at.ts';
import type { Client } from '@temporalio/client';
import type { TrialRow } from '../../store/store.ts';
import { PointRefusedError } from './errors.ts';
import { historyOf } from './history.ts';

/** The moment before the first operation. */
export const START = 'start';

/** Phases to which a trial can be reset, and whether its operations have been made then. */
const PHASES: { readonly [phase in TrialPhase]?: 'before' | 'after' } = {
  provision: 'before',
  drive: 'before',
  fence: 'after',
  grade: 'after',
  release: 'after',
};

/**
 * How many operations had ended at a point of a trial: `op-3`, `start`, the number of an event of its history, or a phase.
 *
 * @throws {PointRefusedError} for what names no such point, with the nearest that do
 */
export async function countAt(temporal: Client, trial: TrialRow, snapshot: WorldSnapshot, to: string): Promise<number> {
  const { operations } = snapshot;
  const names = [START, ...operations.map(({ id }) => id)];
  const index = names.indexOf(to);
  if (index >= 0) return index;
  const phase = Object.hasOwn(PHASES, to) ? PHASES[to as TrialPhase] : undefined;
  if (phase) return phase === 'before' ? 0 : operations.length;
  if (/^\d+$/.test(to)) return countAtEvent(temporal, trial, snapshot, Number(to));
  const known = [...names, ...Object.keys(PHASES)];
  const near = nearestName(to, known);
  throw new PointRefusedError(
    trial.id,
    `there is no point ${to} in ${trial.id}${near === null ? '' : `; did you mean ${near}?`} It has ${told(names)}; or name a phase (${Object.keys(PHASES).join(', ')}) or the number of an event`,
  );
}

/** Of an operation only. @throws {PointRefusedError} */
export function countAtOperation(trial: TrialRow, { operations }: WorldSnapshot, at: string): number {
  const names = [START, ...operations.map(({ id }) => id)];
  const index = names.indexOf(at);
  if (index >= 0) return index;
  const near = nearestName(at, names);
  throw new PointRefusedError(trial.id, `there is no operation ${at} in ${trial.id}${near === null ? '' : `; did you mean ${near}?`} It has ${told(names)}`);
}

/** Makes sure that the world can be made as it was after so many operations. @throws {PointRefusedError} with the nearest points where it can */
export function requirePoint(trial: TrialRow, snapshot: WorldSnapshot, count: number): void {
  try {
    snapshotAt(snapshot, count);
  } catch (error) {
    if (!(error instanceof PointError)) throw error;
    const name = nameOf(snapshot, count);
    const [before, after] = [error.points.filter((point) => point < count).at(-1), error.points.find((point) => point > count)];
    const nearest = [before, after].flatMap((point) => (point === undefined ? [] : [nameOf(snapshot, point)]));
    const instead = nearest.length === 0 ? 'There is no other point either' : `The nearest points are ${nearest.join(' and ')}`;
    throw new PointRefusedError(trial.id, `${trial.id} cannot go on from ${name}: ${error.why}. ${instead}`, { cause: error });
  }
}

/** Names of all points of a snapshot. */
export function pointNames(snapshot: WorldSnapshot): readonly string[] {
  return pointsOf(snapshot).map((count) => nameOf(snapshot, count));
}

export function nameOf({ operations }: WorldSnapshot, count: number): string {
  return count === 0 ? START : (operations[count - 1]?.id ?? `operation ${count}`);
}

async function countAtEvent(temporal: Client, trial: TrialRow, { operations }: WorldSnapshot, event: number): Promise<number> {
  const history = await historyOf(temporal, trial.id).catch((error: unknown) => {
    throw new PointRefusedError(trial.id, `the history of ${trial.id} cannot be read; name an operation instead`, { cause: error });
  });
  if (event < 1 || event > history.events)
    throw new PointRefusedError(trial.id, `there is no event ${event} in ${trial.id}: its history has ${history.events}`);
  const begins = history.marks.filter(({ what }) => what === 'begins').at(-1)?.event ?? 0;
  if (event < begins)
    throw new PointRefusedError(trial.id, `event ${event} of ${trial.id} lies in an attempt before the newest, which began with event ${begins}`);
  const ended = history.marks.filter((mark) => mark.what === 'ended' && mark.event > begins && mark.event <= event);
  return Math.max(0, ...ended.map(({ operation }) => operations.findIndex(({ id }) => id === operation) + 1));
}

function told(names: readonly string[]): string {
  return names.length <= 4 ? names.join(', ') : `${names[0]}, ${names[1]} to ${names.at(-1)}`;
}
