/**
 * The client API: start a batch, follow it, read results. Every command of `trialbed` is a call of this.
 */
import { acquireServices } from '../infra/services.ts';
import { type Environment, readConfig, readSettings } from '../worker/config.ts';
import { createRoot, type Root } from '../worker/root.ts';
import { NotFoundError, type Trialbed } from './api.ts';
import { regrade } from './regrade.ts';
import { regradeRecorded } from './regrade-runs.ts';
import { run } from './run.ts';
import { sweep } from './sweep.ts';
import { currentSummaries, summarise } from './summarise.ts';
import { validate } from './validate.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export interface Settings {
  /** Variables as in `process.env`; only those that the documentation names are read. Default: those of this process. */
  readonly env?: Environment;
  /** Folder of everything that we keep; default `TRIALBED_HOME`, else `.trialbed` in the working folder. */
  readonly home?: string;
  /** Progress that takes long: starting services, downloads. Default: silent. */
  readonly log?: (line: string) => void;
}

/**
 * Connects to the services, starting those that are missing; they stop with the last process that uses them unless `trialbed up` keeps them.
 *
 * @throws {ConfigError} for variables that cannot be used, and an error of `infra` that says what is missing and how to get it.
 */
export async function connect(settings: Settings = {}): Promise<Trialbed> {
  const env = { ...(settings.env ?? process.env), ...(settings.home === undefined ? {} : { TRIALBED_HOME: settings.home }) };
  const lease = await acquireServices(readSettings(env), settings.log ? { progress: settings.log } : {});
  try {
    const root = await createRoot(readConfig(env, lease.endpoints));
    return trialbedOver(root, () => lease.release());
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** The client API over a root that stands. `release` is called last when it is disposed. */
export function trialbedOver(root: Root, release: () => Promise<void>): Trialbed {
  const { store } = root;
  let worker: Promise<WorkerProcess> | null = null;
  const closing = new AbortController();
  const validations = new Set<Promise<unknown>>();
  return {
    run: async (request) => {
      const process = await startWorker();
      return run(root, request, process.broken);
    },
    async results(id) {
      const batch = await store.batch(id);
      if (!batch) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
      const seconds = batch.finishedAt
        ? (Date.parse(batch.finishedAt) - Date.parse(batch.createdAt)) / 1000
        : (Date.now() - Date.parse(batch.createdAt)) / 1000;
      const worlds = { leased: await root.worlds.leased(`${id}-`) };
      return { batch, trials: await currentSummaries(store, id), summary: await summarise(store, batch, seconds, worlds) };
    },
    async batches(filter = {}) {
      const rows = await store.batches({ ...(filter.limit === undefined ? {} : { limit: filter.limit }) });
      return filter.running ? rows.filter((row) => row.state === 'running') : rows;
    },
    async trials(id) {
      if (!(await store.batch(id))) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
      return store.trials(id);
    },
    async show(id) {
      const trial = await store.trial(id);
      if (!trial) throw new NotFoundError(`there is no trial ${id}; \`trialbed ps BATCH\` lists a batch's trials`);
      const kase = await store.caseDocument(trial.caseHash);
      if (!kase) throw new NotFoundError(`the case of trial ${trial.id} is not in the store`);
      const [attempts, record, messages, verdicts] = await Promise.all([
        store.attempts(trial.id),
        store.record(trial.id, trial.attempt),
        store.messages(trial.id, trial.attempt),
        store.verdicts(trial.id),
      ]);
      return { trial, kase: kase.kase, attempts, record, messages, verdicts };
    },
    regrade: (id) => regrade(root, id),
    regradeRuns: (request) => regradeRecorded(root, request),
    validate: async (suite, options = {}) => {
      const process = await startWorker();
      const report = validate(root, suite, { ...options, signal: closing.signal }, process.broken);
      validations.add(report);
      return report.finally(() => validations.delete(report));
    },
    sweep: (options = {}) => sweep(root, options),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.allSettled(validations);
      if (worker) await (await worker.catch(() => null))?.[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
      await release();
    },
  };

  /** Only what runs trials needs a worker, and one serves all of this process. */
  function startWorker(): Promise<WorkerProcess> {
    worker ??= startWorkerProcess(root.config, { restart: true });
    return worker;
  }
}

export type * from './api.ts';
export { NotFoundError } from './api.ts';
export type { BatchSummary, TrialPhase, TrialSummary } from '../domain/trial.ts';
export type { Ending, Finding, Judgement, Verdict } from '../domain/verdict.ts';
