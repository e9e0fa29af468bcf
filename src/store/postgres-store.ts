import { lockWaits } from '../postgres/lock-waits.ts';
import { approvalsOf, askedApproval, copyApprovals, endApproval, findApproval, listApprovals, requestApproval, waitingApprovals } from './approvals.ts';
import { addAudited, endAudited, listAudited } from './audit.ts';
import { addMessage, beginAttempt, findRecord, finishAttempt, listAttempts, listMessages, putRecord, setAttemptWorld } from './attempts.ts';
import { createBatch, findBatch, listBatches, setBatchState, unfinishedBatch } from './batches.ts';
import { cassetteWorldRows } from './cassette-worlds.ts';
import { addConversation, listConversation, liveConversation } from './conversation.ts';
import { KeyRing, type SealKey } from '../keys/key-ring.ts';
import { Sealing } from '../keys/sealing.ts';
import { endConsoleKey, findConsoleKey, listConsoleTokens, putConsoleKey } from './console-keys.ts';
import { openDatabase } from './database.ts';
import { agentDocument, caseDocument, documentsOf, putDocuments, putReferenceEffects, referenceEffects, scheduleDocument } from './documents.ts';
import { drivenBatches, markDriven } from './driving.ts';
import { forgetLive, liveConversations } from './forget-live.ts';
import {
  addLateRequest,
  endGatewayToken,
  findGatewayToken,
  findOpenTurn,
  gatewayTokenOf,
  listGatewayCalls,
  listLateRequests,
  putGatewayCall,
  moveGatewayToken,
  putGatewayToken,
  setOpenTurn,
} from './gateway.ts';
import {
  cancelWaiting,
  claimTrials,
  finishBatch,
  releaseClaims,
  reopenBatch,
  setControl,
  settle,
  settledAfter,
  settledAmong,
  settledPlaces,
  standingOf,
} from './launching.ts';
import { contractCheckRows } from './contract-checks.ts';
import { judgingRows } from './judging.ts';
import { checkKeys, listKeys, rotateKeys } from './keys.ts';
import { migrate, ownMigrations } from './migrate.ts';
import { addModelCall, listBatchCalls, listModelCalls, sumPrices } from './model-calls.ts';
import { countOutcomes } from './outcomes.ts';
import { countGroups, listRunning, setModelWait } from './progress.ts';
import { purgeClass } from './purge.ts';
import { purgeSubject } from './purge-subject.ts';
import { nightRows } from './nights.ts';
import { liveSpaceRows } from './live-spaces.ts';
import { findOrigin } from './origins.ts';
import { requeueTrial } from './requeue.ts';
import { listSamples } from './samples.ts';
import { deleteSnapshot, findSnapshot, listSnapshots, putSnapshot } from './snapshots.ts';
import { launchedTrials, trialStanding } from './standing.ts';
import type { Store } from './store.ts';
import { listFacts } from './facts.ts';
import { seriesUpTo } from './series.ts';
import { countCensus, pageTrials } from './trial-pages.ts';
import { findTrial, listTrials, newestTrials, setPhase } from './trials.ts';
import { addVerdict, listVerdicts } from './verdicts.ts';

export interface StoreOptions {
  /** URL of a database that exists, of a role that may create a schema in it. */
  readonly url: string;
  /** Most connections open at once. Default 8. */
  readonly connections?: number;
  /** How long one statement may take, in milliseconds; migrations are not bound by it. Default two minutes. */
  readonly statementMs?: number;
  /** For the dates of batches and verdicts. Default: the machine's clock. */
  readonly now?: () => Date;
  /** Keys by which what was said and done is encrypted, the current one first. Default: none, and nothing is. */
  readonly keys?: readonly SealKey[];
}

/**
 * The store over PostgreSQL, in the schema `trialbed` of the URL's database. Opens no connection until it is used; call `migrate()`
 * once before anything else.
 *
 * Every method may throw: {@link StoreUnavailableError} when the server is out of reach (repeat the call), {@link StoreAccessError} when
 * it refuses us, {@link StoreMigrationError} when the tables are not those of this version.
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const database = openDatabase(options.url, options.connections ?? 8, new Sealing(new KeyRing(options.keys ?? [])), options.statementMs);
  const now = options.now ?? (() => new Date());
  const migrations = await ownMigrations();
  return {
    underWay: () => database.query("select phase, count(*)::int as trials from trialbed.trials where phase <> 'done' and attempt > 0 group by phase"),
    lockWaits: () => lockWaits((text, values) => database.query(text, values), { schemas: ['trialbed'] }),
    connections: () => ({ name: 'store', ...database.use() }),
    async serverVersion() {
      const [row] = await database.query<{ version: string }>("select current_setting('server_version') as version");
      return row?.version ?? 'unknown';
    },
    async requireRoom() {
      // A table of one page that nobody ever sees: what is read, and what finds room in pages that there are, says nothing of the disk.
      await database.transaction((sql) => sql.query("create temporary table room on commit drop as select repeat('room', 1000) as page"));
    },
    migrate: async () => ({ applied: await migrate(database, migrations) }),

    checkKeys: () => checkKeys(database, now()),
    keys: () => listKeys(database),
    rotateKeys: ({ batch = 200, onProgress = () => undefined, signal } = {}) =>
      rotateKeys(database, { batch, now: now(), onProgress, ...(signal && { signal }) }),

    cassetteWorlds: cassetteWorldRows(database),
    contractChecks: contractCheckRows(database),
    judging: judgingRows(database, now),
    nights: nightRows(database),
    liveSpaces: liveSpaceRows(database),

    putDocuments: ({ cases, agents, schedules = [] }) => database.transaction((sql) => putDocuments(sql, cases, agents, schedules, now())),
    caseDocument: (hash) => caseDocument(database, hash),
    agentDocument: (hash) => agentDocument(database, hash),
    scheduleDocument: (hash) => scheduleDocument(database, hash),

    createBatch: (plan) => database.transaction((sql) => createBatch(sql, plan, now())),
    batch: (id) => findBatch(database, id),
    batches: (filter = {}) => listBatches(database, filter),
    unfinishedBatch: (manifestHash) => unfinishedBatch(database, manifestHash),
    setBatchState: (id, state) => setBatchState(database, id, state, now()),
    reopenBatch: (id, options) => database.transaction((sql) => reopenBatch(sql, id, options)),
    standing: (id) => standingOf(database, id),
    setControl: (id, change) => setControl(database, id, change),
    finishBatch: (id) => database.transaction((sql) => finishBatch(sql, id, now())),
    releaseClaims: (id) => releaseClaims(database, id),
    claimTrials: (id, request) => claimTrials(database, id, request),
    settledAmong: (trials) => settledAmong(database, trials),
    settle: (trials) => settle(database, trials),
    cancelWaiting: (trial, summary) => database.transaction((sql) => cancelWaiting(sql, trial, summary, now())),
    settledPlaces: (id) => settledPlaces(database, id),
    settledAfter: (id, after, known) => settledAfter(database, id, after, known),
    drive: (id) => markDriven(options.url, id),
    driven: (ids) => drivenBatches(database, ids),

    trials: (batch, filter = {}) => listTrials(database, batch, filter),
    trialPage: (batch, filter, page) => pageTrials(database, batch, filter, page),
    documentsOf: (batch) => documentsOf(database, batch),
    facts: (batch) => listFacts(database, batch),
    series: (request) => seriesUpTo(database, request),
    approvalsOf: (batch) => approvalsOf(database, batch),
    census: (batch) => countCensus(database, batch),
    newestTrials: (suite) => newestTrials(database, suite),
    samples: (suite, agents) => listSamples(database, suite, agents),
    trial: (idOrPrefix) => findTrial(database, idOrPrefix),
    trialStanding: (trial) => trialStanding(database, trial),
    setPhase: (trial, attempt, phase) => setPhase(database, trial, attempt, phase),
    progress: (batch) => countGroups(database, batch),
    running: ({ batch, limit }) => listRunning(database, batch ?? null, limit),
    launched: ({ batch, limit }) => launchedTrials(database, batch, limit),
    outcomes: (batches) => countOutcomes(database, batches),
    requeue: (trial, origin) => database.transaction((sql) => requeueTrial(sql, trial, origin)),
    origin: (trial, attempt) => findOrigin(database, trial, attempt),
    setModelWait: (trial, attempt, waitMs) => setModelWait(database, trial, attempt, waitMs),

    beginAttempt: (trial, attempt, startedAt, phase) => beginAttempt(database, trial, attempt, startedAt, phase),
    setAttemptWorld: (trial, attempt, world, phase) => setAttemptWorld(database, trial, attempt, world, phase),
    addMessage: (trial, attempt, message) => addMessage(database, trial, attempt, message),
    messages: (trial, attempt) => listMessages(database, trial, attempt),
    addModelCall: (trial, attempt, call, entries = []) =>
      database.transaction(async (sql) => {
        await addModelCall(sql, trial, attempt, call);
        await addConversation(sql, trial, attempt, entries);
      }),
    modelCalls: (trial, attempt) => listModelCalls(database, trial, attempt),
    modelCallsOf: (batch) => listBatchCalls(database, batch),
    spent: (batch, currency) => sumPrices(database, batch, currency),
    addConversation: (trial, attempt, entries) => addConversation(database, trial, attempt, entries),
    conversation: (trial, attempt) => listConversation(database, trial, attempt),
    liveConversation: (trial, attempt, side) => liveConversation(database, trial, attempt, side),
    liveConversations: () => liveConversations(database),
    forgetLive: (trial, attempt) => forgetLive(database, trial, attempt),
    putRecord: (trial, attempt, record) =>
      record.problem === null ? putRecord(database, trial, attempt, record) : database.transaction((sql) => putRecord(sql, trial, attempt, record)),
    record: (trial, attempt) => findRecord(database, trial, attempt),
    attempts: (trial) => listAttempts(database, trial),
    addVerdict: (trial, attempt, verdict) => database.transaction((sql) => addVerdict(sql, trial, attempt, verdict, now())),
    verdicts: (trial) => listVerdicts(database, trial),
    finishAttempt: (trial, attempt, summary, endedAt, { settles = true } = {}) =>
      database.transaction((sql) => finishAttempt(sql, trial, attempt, summary, { endedAt, settles })),

    putGatewayToken: (token) => putGatewayToken(database, token),
    gatewayToken: (name) => findGatewayToken(database, name),
    moveGatewayToken: (name, place) => moveGatewayToken(database, name, place),
    gatewayTokenOf: (agent) => gatewayTokenOf(database, agent),
    endGatewayToken: (name) => endGatewayToken(database, name, now()),
    putGatewayCall: (trial, attempt, call) => putGatewayCall(database, trial, attempt, call),
    gatewayCalls: (trial, attempt) => listGatewayCalls(database, trial, attempt),
    setOpenTurn: (trial, attempt, turn) => setOpenTurn(database, trial, attempt, turn),
    openTurn: (trial, attempt) => findOpenTurn(database, trial, attempt),
    addLateRequest: (trial, attempt, detail) => addLateRequest(database, trial, attempt, detail, now()),
    lateRequests: (trial, attempt) => listLateRequests(database, trial, attempt),

    requestApproval: (trial, attempt, operation, subject) => requestApproval(database, trial, attempt, operation, subject),
    copyApprovals: (from, to, operations) => copyApprovals(database, from, to, operations),
    endApproval: (trial, attempt, operation, end) => endApproval(database, trial, attempt, operation, end),
    approval: (trial, attempt, operation) => findApproval(database, trial, attempt, operation),
    approvals: (trial, attempt) => listApprovals(database, trial, attempt),
    waitingApprovals: (filter = {}) => waitingApprovals(database, filter),
    askedApproval: (idOrPrefix) => askedApproval(database, idOrPrefix),

    audit: (act, end = { outcome: 'asked', problem: null }) => addAudited(database, act, end, now()),
    endAudited: (id, end) => endAudited(database, id, end),
    audited: (filter = {}) => listAudited(database, filter),

    putConsoleKey: (key) => database.transaction((sql) => putConsoleKey(sql, key, now())),
    consoleKey: (name) => findConsoleKey(database, name, now()),
    endConsoleKey: (name) => endConsoleKey(database, name, now()),
    consoleTokens: () => listConsoleTokens(database, now()),

    putSnapshot: (id, trial, attempt, snapshot) => putSnapshot(database, id, trial, attempt, snapshot),
    snapshot: (id) => findSnapshot(database, id),
    purge: (which, cutoff, { dryRun }) => purgeClass(database, which, cutoff, dryRun),
    purgeSubject: (address, { dryRun }) => purgeSubject(database, address, dryRun),
    snapshots: (filter = {}) => listSnapshots(database, filter),
    deleteSnapshot: (id) => database.transaction((sql) => deleteSnapshot(sql, id)),

    referenceEffects: (generation, caseHash) => referenceEffects(database, generation, caseHash),
    putReferenceEffects: (generation, caseHash, effects) => putReferenceEffects(database, generation, caseHash, effects),

    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
