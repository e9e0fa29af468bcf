import type { World, WorldSnapshot } from '../../environments/world.ts';
import type { BatchRow, TrialRow } from '../../store/store.ts';
import type { Content } from '../../worker/content.ts';
import type { Root } from '../../worker/root.ts';
import { PointRefusedError } from './errors.ts';

/** The state of a trial's newest attempt, from its beginning to now. */
export interface TrialState {
  readonly attempt: number;
  readonly snapshot: WorldSnapshot;
  /** Id under which the snapshot is kept; null: it was taken of the world that still stands. */
  readonly kept: string | null;
}

/**
 * What is there of the world of a trial's newest attempt: the snapshot that was kept, or the world itself where it still stands. Reads, and changes nothing.
 *
 * @throws {PointRefusedError} where there is neither, or it is of another generation than the trial
 */
export async function stateOf({ store, worlds }: Pick<Root, 'store' | 'worlds'>, trial: TrialRow, batch: BatchRow): Promise<TrialState> {
  const { id, attempt } = trial;
  if (attempt === 0)
    throw new PointRefusedError(
      id,
      `trial ${id} has not begun, so there is no state to go on from; where it is stuck, \`trialbed requeue ${id} --force\` begins it anew`,
    );
  const name = `${id}.${attempt}`;
  const kept = await store.snapshot(name);
  const state = kept
    ? { attempt, snapshot: kept.snapshot as unknown as WorldSnapshot, kept: name }
    : { attempt, snapshot: await snapshotOfStanding(worlds, trial), kept: null };
  const { generation } = state.snapshot;
  if (generation !== batch.environment.generation)
    throw new PointRefusedError(
      id,
      `the snapshot of ${name} is of generation ${short(generation)}, and its batch is of ${short(batch.environment.generation)}`,
    );
  return state;
}

async function snapshotOfStanding(worlds: Root['worlds'], { id, attempt }: TrialRow): Promise<WorldSnapshot> {
  const ref = await worlds.held(`${id}.${attempt}`);
  if (!ref)
    throw new PointRefusedError(
      id,
      `nothing is left of the world of attempt ${attempt} of ${id}: no snapshot was kept, and its world does not stand any more; run with --keep always to keep every trial's`,
    );
  const world: World = await worlds.open(ref);
  return JSON.parse(JSON.stringify(await world.snapshot())) as WorldSnapshot;
}

/** Holds content against what a trial was made of. @throws {PointRefusedError} */
export async function requireContent(
  { store }: Pick<Root, 'store'>,
  content: Content,
  trial: TrialRow,
  batch: BatchRow,
  agentHash: string | null,
): Promise<void> {
  const difference = await content.differenceIn(batch, agentHash === null ? [] : [agentHash], store).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new PointRefusedError(trial.id, `what trial ${trial.id} was made with cannot be held against what is here: ${why}`, { cause: error });
  });
  if (difference !== null)
    throw new PointRefusedError(
      trial.id,
      `${difference} since trial ${trial.id} was made: its state fits only what it was made with. Take the version of then, or run the suite again`,
    );
}

function short(generation: string): string {
  return generation.slice(0, 12);
}
