import { type AgentSpec, memberPermission, partsOf } from '../domain/agent.ts';
import type { PermissionContext } from '../domain/case.ts';
import { activityInfo, cancellationSignal, CompleteAsyncError } from '@temporalio/activity';
import { ownerOf, type TrialPhase } from '../domain/trial.ts';
import { ToolFailure } from '../environments/define.ts';
import type { ModelRoute } from '../domain/model.ts';
import { outageOf } from '../domain/outage.ts';
import { type LoadedEnvironment, type World, WorldGoneError, type WorldRef } from '../environments/world.ts';
import { printable } from '../domain/text/bounded.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { answerUser, scripted } from './answer-user.ts';
import { cassetteOf } from './cassette-verdict.ts';
import { createApprovalActivities } from './approvals.ts';
import { buildRecord } from './build-record.ts';
import {
  type AttemptRef,
  type GradeRequest,
  type GradeResult,
  type MemberPart,
  SCRIPT_START,
  type ScriptCursor,
  type ScriptMove,
  type TrialActivities,
} from './contract.ts';
import { type ConverseOptions, converse } from './converse.ts';
import { interruption, isPassing, toFailure } from './failures.ts';
import { finishAttempt, gradeOf, modelsOf } from './finish-attempt.ts';
import type { CallModelServices } from './model-agent/ask-model.ts';
import { callModel } from './model-agent/call-model.ts';
import { Part } from './member-part.ts';
import { originOf, recallCall, restoreOrigin } from './origins.ts';
import { withHeartbeats } from './heartbeats.ts';
import { modelUser } from './model-user.ts';
import { keepWorld } from './keep-world.ts';
import { hitCall, operate } from './operate.ts';
import { changeAtStart, recordTimeout } from './inject.ts';
import type { Meters } from './meters.ts';
import { planOf } from './plan.ts';
import { foundIn } from './runtime-calls.ts';
import { settled } from './settled.ts';
import { gradeInTime } from './grade-in-time.ts';
import { toItsEnd, withinDeadline } from './deadline.ts';
import { playStep } from './play-script.ts';
import { referenceEffects } from './reference-effects.ts';
import { Reports } from './reports.ts';
import { trialsEndedSignal } from '../workflows/batch-messages.ts';
import { leaseMs } from '../workflows/lease-time.ts';
import type { ActivityServices } from './services.ts';
import { settleAttempt } from './settle-attempt.ts';
import { type TrialContext, TrialContexts } from './trial-context.ts';
import { solutionOf } from './solution-of.ts';

/** How long the fence waits for a writer before it ends its session. */
const FENCE_DRAIN_MS = 5_000;

export interface TrialActivityOptions extends ConverseOptions {
  readonly meters: Meters;
  /** Whether a trace of the attempt is made. */
  readonly traced: (ref: AttemptRef) => boolean;
}

/** The activities of a trial over one worker's services. */
export function createTrialActivities(services: ActivityServices, options: TrialActivityOptions): TrialActivities {
  const { store, worlds, toolServers, failpoint } = services;
  const contexts = new TrialContexts(services);
  const modelServices = ({ batch }: TrialContext, { key }: ModelRoute): CallModelServices => {
    const keeper = { secrets: options.environmentOf(key === null ? [] : [key]), addresses: batch.options.addresses ?? 'keep' };
    return { store, models: options.models, keeper, now: services.now, failpoint };
  };

  const reports = new Reports((window, trials) => options.workflows.getHandle(window).signal(trialsEndedSignal, trials));
  const report = async (window: string | undefined, trial: string): Promise<void> => {
    if (window === undefined) return;
    // A batch that hears nothing looks for itself; one that has ended need not know.
    await reports
      .report(window, trial)
      .catch((error: unknown) => services.log.debug({ trial, window, err: error }, 'the end of a trial could not be reported'));
  };

  const leaseWorld = async ({ trial, attempt, leaseMs }: AttemptRef & { readonly leaseMs: number }): Promise<WorldRef> => {
    const { pack, batch, kase, rules } = await contexts.get(trial);
    const startedAt = performance.now();
    const request = { owner: ownerOf({ trial, attempt }), workflowId: trial, isolation: batch.options.isolation, leaseMs, kase, faults: rules };
    const origin = await originOf(services, { batch }, { trial, attempt });
    const leasing = origin ? restoreOrigin(services, origin, pack, request) : worlds.provision(pack, request);
    const told = (outcome: 'leased' | 'failed') => () => options.meters.worldLeased(performance.now() - startedAt, outcome);
    leasing.then(told('leased'), told('failed'));
    const world = await leasing;
    if (!kase.cassette && (rules.length > 0 || pack.environment.toolServer)) {
      const opened = await worlds.open(world);
      await startedOrReleased(opened, async () => {
        // The start of what goes on from another's state has been.
        if (!origin) await changeAtStart(opened, rules);
        await toolServers.start(opened, pack);
      });
    }
    failpoint('world_leased_before_recorded');
    return world;
  };

  const advance = async ({ trial, attempt }: AttemptRef, world: World, cursor: ScriptCursor, request?: MemberPart): Promise<ScriptMove> => {
    const context = await contexts.get(trial);
    const say = (message: Parameters<typeof store.addMessage>[2]) => store.addMessage(trial, attempt, message);
    const part = request ? await Part.begin(context, world, request) : null;
    const { environment, kase, rules } = context;
    const solution = solutionOf({ kase, agent: part?.member.agent ?? context.agent });
    return playStep({ world, environment, kase, rules, solution, part, say }, cursor);
  };

  /** The call before it is done, whatever becomes of this step: one that cannot be played now is asked for again by itself. */
  const movedOn = async (ref: AttemptRef, world: World, cursor: ScriptCursor): Promise<{ readonly next?: ScriptMove }> => {
    try {
      return { next: await advance(ref, world, cursor) };
    } catch (error) {
      services.log.warn({ ...ref, err: error }, 'the step after a call could not be played with it');
      return {};
    }
  };

  const activities: TrialActivities = {
    async beginAttempt({ trial, attempt, phase, reportTo }) {
      const row = await store.trial(trial);
      // One that has ended and is open was put into the queue again. Settled without a result: it was cancelled before it began, or its last step is repeated.
      const done = row?.summary && (await store.settledAmong([trial])).length > 0 ? row.summary : null;
      // Nothing more can go wrong with it, such as an environment that has changed since.
      if (done) {
        await store.settle([trial]);
        await report(reportTo, trial);
        return { ...NOTHING_TO_DO, done };
      }
      // Recorded before anything can go wrong, so that an attempt that never gets a world is seen too.
      if (row) await store.beginAttempt(trial, attempt, services.now().toISOString(), phase);
      services.log.info('the attempt begins');
      const context = await contexts.get(trial, row ?? undefined);
      const origin = await originOf(services, context, { trial, attempt });
      const plan = { ...planOf(context), ...(origin && origin.calls > 0 && { recorded: origin.calls }) };
      return options.traced({ trial, attempt }) ? { ...plan, traced: true } : plan;
    },

    async startAttempt(request) {
      const plan = await activities.beginAttempt({ ...request, phase: 'provision' });
      // What is slow has the patience of an activity of its own, and a trace shows each step.
      if (plan.done || plan.slowWorld || plan.traced) return { plan, entered: null };
      const { trial, attempt } = request;
      return { plan, entered: await activities.enterWorld({ trial, attempt, leaseMs: leaseMs(plan), script: plan.agent === 'script' }) };
    },

    async setPhase({ trial, attempt, phase }) {
      await store.setPhase(trial, attempt, phase);
      services.log.debug({ phase }, 'the attempt enters a phase');
      failpoint(`entered_${phase}`);
    },

    async provision(request) {
      const world = await leaseWorld(request);
      await store.setAttemptWorld(request.trial, request.attempt, world);
      return world;
    },

    async enterWorld({ script, ...request }) {
      failpoint('entered_provision');
      const world = await leaseWorld(request);
      await store.setAttemptWorld(request.trial, request.attempt, world, 'drive');
      failpoint('entered_drive');
      return { world, ...(script && { next: await advance(request, await worlds.open(world, { seen: true }), SCRIPT_START) }) };
    },

    async advanceScript({ world, cursor, part, ...ref }) {
      return advance(ref, await worlds.open(world), cursor, part);
    },

    async answerUser(request) {
      const { kase } = await contexts.get(request.trial);
      return answerUser(services, await worlds.open(request.world), kase, request, scripted(kase));
    },

    async converse(at) {
      const context = await contexts.get(at.trial);
      return converse(services, options, context, await worlds.open(at.world), at);
    },

    async callModel(step) {
      const context = await contexts.get(step.trial);
      const world = await worlds.open(step.world);
      const part = step.part ? await Part.begin(context, world, step.part) : null;
      const agent = part?.member.agent ?? context.agent;
      if (agent.kind !== 'model') throw new Error(`agent ${agent.name} is no model`);
      return callModel(modelServices(context, agent.route), context, { agent, part }, world, step);
    },

    async askUserModel(request) {
      const context = await contexts.get(request.trial);
      const { conversation, id } = context.kase;
      if (conversation?.user !== 'model') throw new Error(`the user of case ${id} is no model`);
      const respond = modelUser(modelServices(context, conversation.route), conversation, request);
      return answerUser(services, await worlds.open(request.world), context.kase, request, respond);
    },

    recallCall: (request) => recallCall(services, request),

    async operate({ trial, attempt, world: ref, operation, tool, dispatch, faults = [], position = null, ended = null, approved = null, playOn }) {
      const { environment, kase, rules, agent } = await contexts.get(trial);
      try {
        const world = await worlds.open(ref, { seen: true });
        failpoint('dispatched_before_write');
        // A call that the schedule lets time out goes on to its end, however long its worker takes.
        const bounded = faults.length === 0 ? withinDeadline : toItsEnd;
        const found = await bounded((signal) =>
          operate(services, {
            ...{ world, environment, permission: kase.permission, operation, tool, dispatch, signal },
            ...(agent.kind === 'team' && { members: membersOf(agent, kase.permission) }),
            ...{ rules, scheduled: rules.length > 0, hits: faults, position, ended, approved },
          }),
        );
        services.log.debug({ tool }, 'an operation was carried out');
        const at = services.now().toISOString();
        return { at, ...found, ...(playOn && (await movedOn({ trial, attempt }, world, playOn))) };
      } catch (error) {
        // What a library throws when it is told to stop says nothing of the tool.
        throw cancellationSignal().aborted && !(error instanceof ToolFailure) ? interruption(cancellationSignal()) : error;
      }
    },

    async settleOperation({ trial, world: ref, operation, dispatch, faults = [], position = null }) {
      const { environment, rules } = await contexts.get(trial);
      const world = await worlds.open(ref);
      const acts = !rules.some((rule) => faults.includes(rule.index) && rule.fault.kind === 'timeout_before_commit');
      const end = await settled(world, { operation, dispatch, acts });
      const row = await world.ledger.read(operation);
      const tool = environment.environment.tools.find((candidate) => candidate.name === row?.tool);
      if (tool && row)
        await recordTimeout(hitCall({ world, environment, operation, rules, hits: faults, position }, { tool, idempotencyKey: row.idempotencyKey }));
      return { settled: end };
    },

    async recoverOperation({ world: ref, operation, dispatch }) {
      const world = await worlds.open(ref);
      const { row, effects, open } = await world.ledger.recover(operation, dispatch);
      if (row?.state === 'committed') return { found: 'committed', told: foundIn(row) ?? null };
      if (row?.state === 'failed' && row.problem) {
        return { found: 'failed', problem: { ...row.problem, message: printable(row.problem.message, MAX_PROBLEM_LENGTH) } };
      }
      return effects > 0 || open ? { found: 'undetermined' } : { found: 'absent' };
    },

    ...createApprovalActivities(services, contexts),

    async fence({ world: ref }) {
      const world = await worlds.open(ref, { seen: true });
      await world.fence({ drainMs: FENCE_DRAIN_MS });
      await toolServers.end(ref.id);
      failpoint('fenced_before_grade');
    },

    gradeTrial: (request) => gradeTrial(services, contexts, request, options.meters),

    keepWorld: (at) => keepWorld(services, at),

    async releaseWorld({ world: ref }) {
      const world = await worlds.open(ref).catch((error: unknown) => {
        // Released by an earlier try whose reply was lost.
        if (error instanceof WorldGoneError) return null;
        throw error;
      });
      await toolServers.end(ref.id);
      const how = await world?.release();
      if (how) options.meters.worldReleased(how === 'pooled' ? 'reset' : 'dropped');
      failpoint('released_before_finished');
    },

    async finishAttempt(request) {
      const { summary, settled } = await finishAttempt(store, request, services.now());
      options.meters.attemptEnded(summary);
      const { ending, pass, calls, durationMs, disturbed } = summary;
      services.log.info({ ending, verdict: pass, calls, durationMs, disturbed }, 'the attempt has ended');
      failpoint('finished_before_reported');
      if (settled) await report(request.reportTo, request.trial);
      return summary;
    },

    settleAttempt(request) {
      const phase = (entered: TrialPhase) => store.setPhase(request.trial, request.attempt, entered);
      return settleAttempt(activities, { ...services, phase, signal: cancellationSignal() }, request);
    },
  };
  return guard(services.log, activities);
}

async function gradeTrial(services: ActivityServices, contexts: TrialContexts, request: GradeRequest, meters: Meters): Promise<GradeResult> {
  const { store, worlds, failpoint } = services;
  const { trial, attempt } = request;
  const context = await contexts.get(trial);
  const { kase, environment } = context;
  const world = await worlds.open(request.world, { seen: true });
  const byReference = kase.expect.outcomes.some((outcome) => 'same_as' in outcome);
  const reference = kase.cassette
    ? kase.cassette.cassette.referenceEffects
    : byReference
      ? await referenceEffects(services, {
          environment,
          pack: context.pack,
          kase,
          caseHash: context.trial.caseHash,
          owner: `${ownerOf(request)}.reference`,
          workflowId: trial,
          signal: cancellationSignal(),
        })
      : null;
  const stored = await store.record(trial, attempt);
  const schedule = { name: context.trial.schedule, rules: context.rules };
  const access = [...new Set(partsOf(context.agent).flatMap((agent) => ('access' in agent ? (agent.access ?? []) : [])))];
  const [messages, approvals] = await Promise.all([store.messages(trial, attempt), store.approvals(trial, attempt)]);
  const record = stored ?? (await buildRecord(world, environment.environment, { request, messages, approvals, access, referenceEffects: reference, schedule }));
  if (!stored) await store.putRecord(trial, attempt, { ...record, ...(await modelsOf(store, request)) });
  if (!stored) meters.operationsGraded(record.operations.map(({ tool, told }) => ({ tool: knownTool(environment, tool), state: told })));
  failpoint('recorded_before_verdict');
  const verdict = gradeInTime(kase, context.trial.caseHash, record);
  await store.addVerdict(trial, attempt, verdict);
  return { ...gradeOf(verdict, record), ...cassetteOf(kase, verdict) };
}

function membersOf({ members }: Extract<AgentSpec, { kind: 'team' }>, ofCase: PermissionContext): { readonly [member: string]: PermissionContext } {
  return Object.fromEntries(members.map((member) => [member.name, memberPermission(member, ofCase)]));
}

function knownTool({ environment }: LoadedEnvironment, name: string): string {
  return environment.tools.some((tool) => tool.name === name) ? name : '(unknown)';
}

/** Plan of a trial that has its result. */
const NOTHING_TO_DO = { agent: 'script', tools: {}, budget: { calls: 0, wallMs: 0, turns: 0 }, keep: 'never', slowWorld: false } as const;

/** What happens in a world before the agent's first message. A world in which it cannot be done is given back. */
async function startedOrReleased(world: World, begin: () => Promise<void>): Promise<void> {
  try {
    await begin();
  } catch (error) {
    await world.release().catch(() => undefined);
    throw error;
  }
}

/** Every activity ends with a failure that the workflow can tell apart. */
function guard(log: ActivityServices['log'], activities: TrialActivities): TrialActivities {
  const guarded = Object.entries(activities).map(([name, run]: [string, (request: never) => Promise<unknown>]) => [
    name,
    async (request: never) => {
      try {
        return await withHeartbeats(() => run(request));
      } catch (error) {
        sayWhatIsWaitedFor(log, error);
        // No failure: the activity stays open, and the server ends it by its time-out.
        throw error instanceof CompleteAsyncError ? error : toFailure(error);
      }
    },
  ]);
  return Object.fromEntries(guarded) as TrialActivities;
}

/** A step that meets a service which is away is tried again. Said at its first try, then ever more rarely. */
function sayWhatIsWaitedFor(log: ActivityServices['log'], error: unknown): void {
  const outage = isPassing(error) ? outageOf(error) : null;
  const { attempt: tries, activityType: step } = activityInfo();
  if (outage && (tries & (tries - 1)) === 0)
    log.warn({ step, try: tries, service: outage.service, reason: outage.reason }, 'a step of the trial waits for a service, and is tried again');
}
