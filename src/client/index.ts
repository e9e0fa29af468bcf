/**
 * The client API: start a batch, follow it, read results. Every command of `trialbed` is a call of this.
 */
import { resolve } from 'node:path';
import { requireContainers } from '../infra/postgres-container.ts';
import { acquireServices } from '../infra/services.ts';
import { readConfig, readSettings } from '../worker/config.ts';
import type { Actor } from '../store/audit.ts';
import type { BatchRow } from '../store/store.ts';
import { queueOf } from '../workflows/messages.ts';
import { createRoot, type Root } from '../worker/root.ts';
import { seriesOf } from '../report/figures/series.ts';
import { type BatchHandle, ClosedError, type FollowedBatch, NotFoundError, type RunRequest, type Trialbed, type ValidationReport } from './api.ts';
import { type Decision, decide } from './approvals.ts';
import { audited, localActor } from './audited.ts';
import { type BatchWorker, BatchWorkers } from './batch-workers.ts';
import { compareAgents } from './compare.ts';
import { Control } from './control.ts';
import { addConsoleToken, revokeConsoleToken } from './console-tokens.ts';
import { asTheyAre } from './driven.ts';
import { follow } from './follow.ts';
import { estimate } from './estimate.ts';
import { fork, type ForkRequest } from './fork.ts';
import { estimateJudging } from './judges/estimate.ts';
import { judge } from './judges/judge.ts';
import { judgingOf } from './judges/judging-of.ts';
import { judgeModels } from './judges/models.ts';
import { keysOver } from './keys.ts';
import { nightSchedules } from './nights/schedules.ts';
import { labelsOver } from './labels/labels.ts';
import { pin } from './pin.ts';
import { purgeByAge, purgeSubject, requireAddress } from './retention/purge.ts';
import { readRetention, SETTINGS_FILE } from './retention/settings-file.ts';
import { Pollers, watchedPollers } from './pollers.ts';
import { checkContract, type ContractReport, type ContractRequest } from './cassettes/contract.ts';
import { record } from './cassettes/record.ts';
import { replay } from './replay.ts';
import { requeue, type RequeueReceipt } from './requeue.ts';
import { reset } from './reset.ts';
import { underWay } from './under-way.ts';
import { wakeBatch } from './wake-batch.ts';
import { Content } from '../worker/content.ts';
import { regrade } from './regrade.ts';
import { regradeRecorded } from './regrade-runs.ts';
import { prepareBatch } from './run.ts';
import { type Settings, sourcesOf } from './settings.ts';
import { type PreparedBatch, startBatch } from './start-batch.ts';
import { show } from './show.ts';
import { snapshotsOver } from './snapshots/snapshots.ts';
import { sweep } from './sweep.ts';
import { countBatch } from './summarise.ts';
import { traceTrial } from './trace.ts';
import { validate } from './validate.ts';
import { why } from './why/why.ts';
import { type WorkOptions, workWith } from './work.ts';
import { worldCounts } from './world-counts.ts';

/** Batches of a series. */
const SERIES_LENGTH = 60;

/**
 * Connects to the services, starting those that are missing; they stop with the last process that uses them unless `trialbed up` keeps them.
 *
 * @throws {ConfigError} for variables that cannot be used, and an error of `infra` that says what is missing and how to get it.
 */
export async function connect(settings: Settings = {}): Promise<Trialbed> {
  const { env, place } = sourcesOf(settings);
  const lazy = settings.temporal === 'optional';
  const lease = await acquireServices(readSettings(env, place), { ...(settings.log && { progress: settings.log }), unprepared: lazy });
  try {
    const root = await createRoot(readConfig(env, lease.endpoints, place), { lazy });
    return trialbedOver(root, () => lease.release(), {
      notes: lease.notes,
      temporalUi: lease.temporalUi,
      actor: localActor(settings.via ?? 'library'),
      ...(settings.log ? { log: settings.log } : {}),
    });
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** Runs a worker in this process, which takes trials of every batch that is not finished and whose content it has: `trialbed worker`. @throws what broke it. */
export function work(options: WorkOptions): Promise<void> {
  return workWith(trialbedOver, options);
}

export interface ClientOptions {
  /** Hears what takes long, and the notes. */
  readonly log?: (line: string) => void;
  /** Who asks for what is done, for the audit log. Default: the user of this process, by the library. */
  readonly actor?: Actor;
  /** Base address of Temporal's own web interface; null: it is not known where that is. Default: null. */
  readonly temporalUi?: string | null;
  /** What a person should know of the services; told once, when the first trials are run. */
  readonly notes?: readonly string[];
}

/** The client API over a root that stands. `release` is called last when it is disposed. */
export function trialbedOver(root: Root, release: () => Promise<void>, options: ClientOptions = {}): Trialbed {
  const { store } = root;
  const say = options.log ?? (() => undefined);
  const untold = [...(options.notes ?? [])];
  const workers = new BatchWorkers(root.config);
  const pollers = new Pollers(root.temporal, root.config.taskQueue);
  const control = new Control(root, {
    pollers,
    taskQueueOf: (batch) => queueOf(root.config.taskQueue, batch),
    worker: workersFor,
  });
  const actor = options.actor ?? localActor('library');
  /** What is asked of a batch, a trial or what is stored is in the audit log, done or not. */
  const act = <T>(action: string, target: string, detail: string | null, work: () => Promise<T>) => audited(store, { ...actor, action, target, detail }, work);
  const snapshots = snapshotsOver(root);
  const schedules = nightSchedules(root);
  const closing = new AbortController();
  const keys = keysOver(root, closing.signal);
  /** What still needs the services: validations, and batches with their workers. */
  const work = new Set<Promise<unknown>>();
  const bed: Trialbed = {
    ...actsOf(actor),
    run,
    estimate: (request) => estimate(root, request),
    async results(id) {
      const stored = await store.batch(id);
      if (!stored) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
      const [batch = stored] = await asTheyAre(store, [stored], pollers);
      const today = root.now().toISOString();
      const seconds = batch.finishedAt
        ? (Date.parse(batch.finishedAt) - Date.parse(batch.createdAt)) / 1000
        : (Date.parse(today) - Date.parse(batch.createdAt)) / 1000;
      const worlds = await worldCounts(root, id);
      return { batch, ...(await countBatch(store, batch, { seconds, worlds, today })), today };
    },
    follow: async (id) => attach(await batchNamed(id)),
    async watch(id) {
      const batch = await batchNamed(id ?? (await store.batches({ limit: 1 }))[0]?.id);
      if (batch.state === 'finished' || batch.state === 'cancelled') return { ...attach(batch), work: 'over', why: null };
      const [current = batch] = await asTheyAre(store, [batch], pollers);
      if (current.state === 'running') return { ...attach(batch), work: 'others', why: null };
      const why = await new Content(root.loadEnvironment)
        .differenceFrom(batch, store)
        .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (why !== null) return { ...attach(batch), work: 'nobody', why };
      const handle = await untilClosed(launchOnWorker({ batch, resumed: true, maxCost: batch.maxCost }));
      const leave = () => void untilClosed(handle.interrupt().catch(() => {}));
      return { id: handle.id, events: () => handle.events(), result: () => handle.result(), leave, work: 'ours', why: null };
    },
    fork: (trial, request) => act('fork', trial, wordsOfFork(request), () => fork(root, trial, request)),
    reset: (trial, { to }) =>
      act('reset', trial, `to ${to}`, async () => {
        const receipt = await reset(root, trial, to);
        return receipt.how === 'attempt' ? woken(receipt) : receipt;
      }),
    async running({ batch, limit = 100 } = {}) {
      const rows = await store.running({ limit, ...(batch !== undefined && { batch }) });
      return underWay(root, pollers, rows);
    },
    outcomes: (ids) => store.outcomes(ids),
    async batches(filter = {}) {
      const rows = await asTheyAre(
        store,
        await store.batches({ ...(filter.suite !== undefined && { suite: filter.suite }), ...(filter.limit !== undefined && { limit: filter.limit }) }),
        pollers,
      );
      return filter.running ? rows.filter((row) => row.state === 'running') : rows;
    },
    async trials(id) {
      if (!(await store.batch(id))) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
      return store.trials(id);
    },
    async *facts(id) {
      await batchNamed(id);
      yield* store.facts(id);
    },
    async series(id, { limit = SERIES_LENGTH } = {}) {
      await batchNamed(id);
      return seriesOf(await store.series({ batch: id, limit }));
    },
    async documents(id) {
      await batchNamed(id);
      const [documents, approvals] = await Promise.all([store.documentsOf(id), store.approvalsOf(id)]);
      return { ...documents, approvals };
    },
    show: (id) => show(store, id),
    trace: (id, { attempt } = {}) => traceTrial(root, id, attempt),
    compare: (request) => compareAgents(store, request, root.now()),
    why: (id) => why({ root, pollers, now: root.now, patienceMs: WHY_MS }, id),
    replay: (id, options = {}) => replay(root, id, options),
    regrade: (id) => regrade(root, id),
    regradeRuns: (request) => regradeRecorded(root, request),
    judge(request) {
      const signal = AbortSignal.any([closing.signal, ...(request.signal ? [request.signal] : [])]);
      const services = { store, models: judgeModels(), now: () => new Date() };
      return untilClosed(act('judge', request.batch, `by ${request.rubric}`, () => judge(services, { ...request, signal })));
    },
    estimateJudging: (request) => estimateJudging(store, request),
    async judging(id) {
      await batchNamed(id);
      return judgingOf(store, id);
    },
    async contracts(id) {
      return store.contractChecks.of((await batchNamed(id)).environment.generation);
    },
    validate: (suite, options = {}) => untilClosed(validateOnWorkers(suite, options)),
    pin: (suite) => untilClosed(pin(root, suite)),
    contract: (request) => untilClosed(contractOnWorkers(request)),
    record: (request) => untilClosed(record(root, { ...request, signal: closing.signal }, startOnWorker)),
    approvals: (filter = {}) => store.waitingApprovals(filter),
    sweep: (options = {}) => sweep(root, options),
    async purge({ dryRun = false, settingsFile = SETTINGS_FILE } = {}) {
      const retention = await readRetention(resolve(settingsFile));
      const purge = () => purgeByAge(root, retention, { dryRun, now: root.now() });
      return dryRun ? purge() : act('purge', 'store', 'by age', purge);
    },
    async purgeSubject(address, { dryRun = false, histories = false } = {}) {
      requireAddress(address);
      const purge = () => purgeSubject(root, address, { dryRun, histories });
      // The log must not keep what is to be forgotten.
      return dryRun ? purge() : act('purge', 'store', 'of one person', purge);
    },
    keys: { list: keys.list, rotate: (how) => untilClosed(act('keys rotate', 'store', null, () => keys.rotate(how))) },
    schedules: {
      ...schedules,
      nightly: (request) => act('schedule nightly', request.name ?? request.suite, `at ${request.at}`, () => schedules.nightly(request)),
      pause: (name, note) => act('schedule pause', name, note, () => schedules.pause(name, note)),
      resume: (name) => act('schedule resume', name, null, () => schedules.resume(name)),
      trigger: (name) => act('schedule trigger', name, null, () => schedules.trigger(name)),
      remove: (name) => act('schedule delete', name, null, () => schedules.remove(name)),
    },
    labels: labelsOver(store, () => new Date()),
    snapshots: {
      ...snapshots,
      restore: (name, how) => untilClosed(act('snapshot restore', name, null, () => snapshots.restore(name, how))),
      end: (name) => act('snapshot end', name, null, () => snapshots.end(name)),
      export: (name, out) => act('snapshot export', name, out, () => snapshots.export(name, out)),
      delete: (name) => act('snapshot delete', name, null, () => snapshots.delete(name)),
    },
    audit: (filter = {}) => store.audited(filter),
    async console(request = {}) {
      // It is of no use to any other command, and takes a while to load.
      const { openConsole } = await import('./console.ts');
      const asItIs = async (batch: BatchRow) => (await asTheyAre(store, [batch], pollers))[0] ?? batch;
      const parts = { root, bed, acts: actsOf, asItIs, temporalUi: options.temporalUi ?? null, holder: actor.by };
      return openConsole(parts, request);
    },
    consoleTokens: () => store.consoleTokens(),
    addConsoleToken: (request) => act('token-add', request.holder, request.roles.join(' and '), () => addConsoleToken(store, request, root.now())),
    revokeConsoleToken: (name) => act('token-revoke', name, null, () => revokeConsoleToken(store, name)),
    async worldsOf(batch) {
      const [held, containers] = await Promise.all([root.worlds.leased(`${batch}-`), root.worlds.leased(`${batch}-`, 'container')]);
      return { held, containers, outlive: root.config.worldHosts.some(({ kind }) => kind !== 'container') };
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new ClosedError('the client was closed'));
      // What ends may have begun something that must end too, such as a batch that was still being prepared.
      while (work.size > 0) await Promise.allSettled(work);
      await root[Symbol.asyncDispose]();
      await release();
    },
  };
  return bed;

  /** What changes something, in the name of whoever asks. */
  function actsOf(by: Actor): Pick<Trialbed, 'requeue' | 'decide' | 'pause' | 'resume' | 'setConcurrency' | 'cancel'> {
    const acted = <T>(action: string, target: string, detail: string | null, work: () => Promise<T>) => audited(store, { ...by, action, target, detail }, work);
    return {
      requeue: (trial, { force = false } = {}) => acted('requeue', trial, force ? 'with force' : null, () => requeueTrial(trial, force)),
      decide: (request, decision) => acted(decision.approved ? 'approve' : 'deny', request, wordsOf(decision, by), () => decide(root, request, decision)),
      pause: (id) => untilClosed(acted('pause', id, null, () => control.pause(id))),
      resume: (id, options = {}) => untilClosed(acted('resume', id, null, () => control.resume(id, options))),
      setConcurrency: (id, concurrency) => untilClosed(acted('concurrency', id, String(concurrency), () => control.setConcurrency(id, concurrency))),
      cancel: (id) => acted('cancel', id, null, () => control.cancel(id)),
    };
  }

  async function batchNamed(id: string | undefined): Promise<BatchRow> {
    if (id === undefined) throw new NotFoundError('there is no batch yet; `trialbed run SUITE` makes one');
    const batch = await store.batch(id);
    if (!batch) throw new NotFoundError(`there is no batch ${id}; \`trialbed ps\` lists them`);
    return batch;
  }

  /** Follows a batch of whoever runs it, until it has ended or the client is closed. */
  function attach(batch: BatchRow): FollowedBatch {
    const worlds = () => worldCounts(root, batch.id);
    const followed = follow({ store, temporal: root.temporal, batch, resumed: false, worlds, now: root.now, served: watchedPollers(pollers, batch) });
    const leave = () => followed.leave();
    closing.signal.addEventListener('abort', leave, { once: true });
    void untilClosed(
      followed
        .result()
        .catch(() => null)
        .finally(() => closing.signal.removeEventListener('abort', leave)),
    );
    return followed;
  }

  /** Where the batch runs, its workflow is told that there is something to launch. */
  async function requeueTrial(id: string, force: boolean): Promise<RequeueReceipt> {
    return woken(await requeue(root, id, { force }));
  }

  async function woken<Receipt extends { readonly batch: string }>(receipt: Receipt): Promise<Receipt> {
    const batch = await batchNamed(receipt.batch);
    if (batch.state === 'running') await wakeBatch(root.temporal, batch);
    return receipt;
  }

  function tellNotes(): void {
    for (const note of untold.splice(0)) say(note);
  }

  function untilClosed<T>(promise: Promise<T>): Promise<T> {
    const settled = promise.finally(() => work.delete(settled));
    work.add(settled);
    return settled;
  }

  /** Ends once the batch runs; what the batch then needs is let go when it has ended or the client is closed. */
  async function run(request: RunRequest): Promise<BatchHandle> {
    return untilClosed(startOnWorker(request));
  }

  async function startOnWorker(request: RunRequest): Promise<BatchHandle> {
    closing.signal.throwIfAborted();
    tellNotes();
    if (request.isolation === 'container') await requireContainers(root.config.postgresImage, say);
    return await launchOnWorker(await prepareBatch(root, request));
  }

  async function launchOnWorker({ batch, resumed, maxCost }: PreparedBatch): Promise<BatchHandle> {
    closing.signal.throwIfAborted();
    const worker = await workersFor(batch).catch(async (error: unknown) => {
      await store.setBatchState(batch.id, 'interrupted').catch(() => {});
      throw error;
    });
    const handle = startBatch(root, batch, resumed, worker.broken, worker.taskQueue, maxCost);
    const interrupt = () => void untilClosed(handle.interrupt().catch(() => {}));
    if (closing.signal.aborted) interrupt();
    closing.signal.addEventListener('abort', interrupt, { once: true });
    const ended = handle
      .result()
      .catch(() => null)
      .finally(() => {
        closing.signal.removeEventListener('abort', interrupt);
        return worker[Symbol.asyncDispose]();
      });
    void untilClosed(ended);
    return handle;
  }

  /** Those of a deployment are somebody else's to start and to end. */
  async function workersFor(batch: BatchRow): Promise<BatchWorker> {
    const { deployment } = batch.options;
    if (!deployment) return workers.start(batch);
    say(`the trials are run by the workers of deployment ${deployment.name} that have content ${deployment.content}`);
    const taskQueue = queueOf(root.config.taskQueue, batch);
    return { taskQueue, broken: new Promise<never>(() => {}), [Symbol.asyncDispose]: async () => {} };
  }

  async function contractOnWorkers(request: ContractRequest): Promise<ContractReport> {
    await using owned = new AsyncDisposableStack();
    tellNotes();
    return await checkContract(root, request, async (batch) => owned.use(await workers.start(batch)));
  }

  async function validateOnWorkers(suite: string, options: Parameters<Trialbed['validate']>[1]): Promise<ValidationReport> {
    await using owned = new AsyncDisposableStack();
    tellNotes();
    return await validate(root, suite, { ...options, signal: closing.signal }, async (batch) => owned.use(await workers.start(batch)));
  }
}

/** What is given with a decision: the reason, and in whose name it is, where that is not who asks. */
function wordsOf({ by, reason }: Decision, actor: Actor): string | null {
  const parts = [...(by === actor.by ? [] : [`in the name of ${by}`]), ...(reason === undefined ? [] : [reason])];
  return parts.length === 0 ? null : parts.join(': ');
}

function wordsOfFork({ at, agent, faults }: ForkRequest): string {
  return [`at ${at}`, ...(agent === undefined ? [] : [`agent ${agent}`]), ...(faults === undefined ? [] : [`faults ${faults}`])].join(', ');
}

/** For each service that is asked why something stands still. */
const WHY_MS = 600;

export type * from './api.ts';
export { ClosedError, NotFoundError } from './api.ts';
export { CassetteError } from './cassettes/errors.ts';
export { ConsoleAddressError } from './console-errors.ts';
export { LabelRefusedError } from './labels/errors.ts';
export { DecisionRefusedError, DecisionUnansweredError } from './approvals.ts';
export { ControlRefusedError, ControlUnansweredError } from './control-errors.ts';
export { type BatchComparison, compareBatch } from './compare-batch.ts';
export { type ComparedAgent, type CompareRequest, ComparisonRefusedError, writeComparison } from './compare.ts';
export type { Comparison } from '../report/comparison/comparison.ts';
export { PointRefusedError } from './points/errors.ts';
export { type NightRequest, NightRequestError } from './nights/request.ts';
export type { NightSchedule, NightSchedules, NightSeries } from './nights/schedules.ts';
export { TrialRunsError } from './requeue.ts';
export { StoreLockedError } from './why/why.ts';
export { replayFile } from './replay.ts';
export { HistoryFileError } from '../worker/replay/history-file.ts';
export { BatchBrokenError } from './launcher.ts';
export { type Checks, checks } from './check.ts';
export type { BatchSummary, TrialPhase, TrialSummary } from '../domain/trial.ts';
export type { Ending, Finding, Judgement, Verdict } from '../domain/verdict.ts';
export type { BatchWhy, TrialWhy, WhyCause, WhyEvidence } from '../domain/why.ts';
export type { Settings } from './settings.ts';
export { type BatchReport, type ReportOptions, writeBatchReport } from './report.ts';
export { type TraceOptions, writeTrace, type WrittenTrace } from './trace.ts';
export { doctor, down, type KeptServices, up } from './services.ts';
export type { WorkOptions } from './work.ts';
export { initProject } from '../init/init.ts';
export { schemas } from '../suite/json-schema.ts';
export { importTauBench } from '../suite/import-tau-bench.ts';
export { importWorkbench } from '../suite/import-workbench.ts';
