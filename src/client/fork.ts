import { customAlphabet } from 'nanoid';
import { NO_FAULTS } from '../domain/fault.ts';
import type { BatchPlan, BatchRow, Origin, TrialRow } from '../store/store.ts';
import { contentHash, trialId } from '../suite/identity.ts';
import type { LoadedAgent, LoadedSchedule } from '../suite/suite.ts';
import { Content, contentOf } from '../worker/content.ts';
import type { Root } from '../worker/root.ts';
import { requireAccess } from './agent-access.ts';
import { NotFoundError } from './api.ts';
import { PointRefusedError } from './points/errors.ts';
import { countAtOperation, nameOf, requirePoint } from './points/point.ts';
import { toldOf } from './points/told.ts';
import { requireContent, stateOf } from './points/trial-state.ts';
import { readSuite } from './read-suite.ts';
import { selectSchedules } from './select-schedules.ts';

const newId = customAlphabet('23456789abcdefghjkmnpqrstuvwxyz', 10);

/** A new trial from the state of another. */
export interface ForkRequest {
  /** Id of an operation, such as `op-3`, after which the new trial goes on; `start`: before the first. */
  readonly at: string;
  /** Name of an agent of the suite, or path of an agent file. Default: the trial's. */
  readonly agent?: string;
  /** Name of a fault schedule of the suite, or `none`. Default: the trial's. */
  readonly faults?: string;
}

/** A fork that is stored and has not begun. */
export interface ForkReceipt {
  readonly trial: string;
  /** A batch of this trial alone. */
  readonly batch: string;
  readonly source: { readonly trial: string; readonly attempt: number };
  readonly point: string;
  /** Calls that are answered from the record. */
  readonly calls: number;
  readonly agent: string;
  readonly schedule: string;
}

/**
 * Makes a new trial that goes on from the state of another, in a fresh world. It is the only one of a batch of its own, so that no report counts it among the suite's. The
 * original is only read.
 *
 * @throws {NotFoundError} @throws {PointRefusedError} where nothing can go on from there @throws {SuiteFileError} for another agent or schedule of a suite with problems
 */
export async function fork(root: Root, id: string, request: ForkRequest): Promise<ForkReceipt> {
  const { store } = root;
  const trial = await store.trial(id);
  const batch = trial && (await store.batch(trial.batch));
  if (!trial || !batch) throw new NotFoundError(`there is no trial ${id}; \`trialbed ps BATCH\` lists a batch's trials`);
  await requireContent(root, new Content(root.loadEnvironment), trial, batch, request.agent === undefined ? trial.agentHash : null);
  const state = await stateOf(root, trial, batch);
  const count = countAtOperation(trial, state.snapshot, request.at);
  requirePoint(trial, state.snapshot, count);
  const others = await othersOf(root, trial, batch, request);
  const notes = await toldOf(root, trial, batch, { state, count });
  const plan = planOf(trial, batch, others);
  const [made] = plan.trials;
  if (!made) throw new Error('a fork is one trial');
  const snapshot = state.kept ?? `${trial.id}.${state.attempt}@${made.id}`;
  if (others.agent) await store.putDocuments({ cases: [], agents: [{ hash: others.agent.hash, spec: others.agent.spec }] });
  if (others.schedule) await store.putDocuments({ cases: [], agents: [], schedules: [{ hash: others.schedule.hash, schedule: others.schedule.schedule }] });
  if (state.kept === null) await store.putSnapshot(snapshot, trial.id, state.attempt, JSON.parse(JSON.stringify(state.snapshot)));
  const source = { trial: trial.id, attempt: state.attempt };
  const origin: Origin = { trial: made.id, attempt: 1, source, calls: count, snapshot, notes: JSON.parse(JSON.stringify(notes)) };
  await store.createBatch({ ...plan, origin });
  // Nobody drives it yet.
  await store.setBatchState(plan.id, 'interrupted');
  return { trial: made.id, batch: plan.id, source, point: nameOf(state.snapshot, count), calls: count, agent: made.agentName, schedule: made.schedule };
}

interface Others {
  /** Absent: the trial's own. */
  readonly agent?: LoadedAgent;
  /** Null: none. Absent: the trial's own. */
  readonly schedule?: LoadedSchedule | null;
}

/** Another agent or schedule, as the suite has it now. */
async function othersOf(root: Root, trial: TrialRow, batch: BatchRow, { agent, faults }: ForkRequest): Promise<Others> {
  if (agent === undefined && (faults === undefined || faults === NO_FAULTS.name)) return faults === undefined ? {} : { schedule: null };
  const { suite, environment, agents } = await readSuite(
    { suite: batch.suiteFile, environmentOptions: batch.environment.options, agents: agent === undefined ? [] : [agent] },
    { loadEnvironment: root.loadEnvironment },
  );
  if (environment.generation !== batch.environment.generation)
    throw new PointRefusedError(
      trial.id,
      `the environment of suite ${suite.name} has changed since trial ${trial.id} was made: its state fits only what it was made with`,
    );
  requireAccess(agents, batch.options.isolation);
  const [other] = agents;
  const cases = suite.cases.filter(({ kase }) => kase.id === trial.caseId);
  return { ...(other && { agent: other }), ...(faults !== undefined && { schedule: selectSchedules(suite, cases, { faults: [faults] })[0] ?? null }) };
}

function planOf(trial: TrialRow, batch: BatchRow, { agent, schedule }: Others): BatchPlan {
  const id = newId();
  const { generation } = batch.environment;
  const content = {
    caseId: trial.caseId,
    caseHash: trial.caseHash,
    agentName: agent?.spec.name ?? trial.agentName,
    agentHash: agent?.hash ?? trial.agentHash,
    schedule: schedule === undefined ? trial.schedule : (schedule?.schedule.name ?? NO_FAULTS.name),
    scheduleHash: schedule === undefined ? trial.scheduleHash : (schedule?.hash ?? null),
    repetition: trial.repetition,
  };
  // What a batch of many has to reach says nothing of one trial alone.
  const { deployment, gates: _, ...options } = batch.options;
  return {
    id,
    suite: batch.suite,
    suiteFile: batch.suiteFile,
    // No run of a suite goes on with it.
    manifestHash: contentHash({ fork: id }),
    environment: batch.environment,
    // The same chance decides what the schedule does.
    seed: batch.seed,
    options: {
      ...options,
      concurrency: 1,
      fork: true,
      ...(deployment && { deployment: agent ? { ...deployment, content: contentOf(generation, [agent]) } : deployment }),
    },
    sources: batch.sources,
    trials: [{ id: trialId(id, { ...content, generation }), ...content }],
  };
}
