import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { WorkflowClient } from '@temporalio/client';
import { grade } from '../domain/grading/grade.ts';
import { ToolFailure } from '../environments/define.ts';
import { printable } from '../domain/text/bounded.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { buildRecord } from './build-record.ts';
import type { AttemptPlan, AttemptRef, GradeRequest, GradeResult, ToolPlan, TrialActivities } from './contract.ts';
import { converse } from './converse.ts';
import { interruption, SERVICE_FAILURES, toFailure } from './failures.ts';
import { finishAttempt, gradeOf, snapshotId } from './finish-attempt.ts';
import { operate } from './operate.ts';
import { playStep } from './play-script.ts';
import { referenceEffects } from './reference-effects.ts';
import type { ActivityServices } from './services.ts';
import { type TrialContext, TrialContexts } from './trial-context.ts';
import { solutionOf } from './solution-of.ts';

const HEARTBEAT_MS = 2_000;
const DEFAULT_TOOL_TIMEOUT_MS = 60_000;
/** A read that declares no more than this may run as a local activity. */
const LOCAL_READ_MS = 200;
/** How long the fence waits for a writer before it ends its session. */
const FENCE_DRAIN_MS = 5_000;

export interface TrialActivityOptions {
  readonly workflows: WorkflowClient;
  /** Values of variables of our environment that an agent's description names; unset ones are left out. */
  readonly environmentOf: (names: readonly string[]) => { readonly [name: string]: string };
}

/** The activities of a trial over one worker's services. */
export function createTrialActivities(services: ActivityServices, options: TrialActivityOptions): TrialActivities {
  const { store, worlds, failpoint } = services;
  const contexts = new TrialContexts(services);

  return guard({
    async beginAttempt({ trial, attempt }) {
      const row = await store.trial(trial);
      const done = row?.summary && row.summary.ending !== 'infra_error' && row.summary.ending !== 'cancelled' ? row.summary : null;
      // Nothing more can go wrong with it, such as an environment that has changed since.
      if (done) return { ...NOTHING_TO_DO, done };
      // Recorded before anything can go wrong, so that an attempt that never gets a world is seen too.
      if (row) await store.beginAttempt(trial, attempt, services.now().toISOString());
      return planOf(await contexts.get(trial));
    },

    async setPhase({ trial, attempt, phase }) {
      await store.setPhase(trial, attempt, phase);
      failpoint(`entered_${phase}`);
    },

    async provision({ trial, attempt, leaseMs }) {
      const { environment, batch, kase } = await contexts.get(trial);
      const world = await worlds.provision(environment, {
        owner: ownerOf({ trial, attempt }),
        workflowId: trial,
        isolation: batch.options.isolation,
        leaseMs,
        kase,
      });
      failpoint('world_leased_before_recorded');
      await store.setAttemptWorld(trial, attempt, { id: world.id, host: world.host });
      return world;
    },

    async advanceScript({ trial, attempt, world: ref, cursor }) {
      const context = await contexts.get(trial);
      const world = await worlds.open(ref);
      const say = (message: Parameters<typeof store.addMessage>[2]) => store.addMessage(trial, attempt, message);
      return playStep({ world, environment: context.environment, kase: context.kase, solution: solutionOf(context), say }, cursor);
    },

    async converse(at) {
      const context = await contexts.get(at.trial);
      return converse(services, options.workflows, context, await worlds.open(at.world), at, options.environmentOf);
    },

    async operate({ trial, world: ref, operation, tool, dispatch }) {
      const { environment, kase } = await contexts.get(trial);
      const beat = activityInfo().isLocal ? undefined : setInterval(() => heartbeat(), HEARTBEAT_MS);
      try {
        const world = await worlds.open(ref);
        failpoint('dispatched_before_write');
        await operate(services, { world, environment, permission: kase.permission, operation, tool, dispatch, signal: cancellationSignal() });
      } catch (error) {
        // What a library throws when it is told to stop says nothing of the tool.
        throw cancellationSignal().aborted && !(error instanceof ToolFailure) ? interruption(cancellationSignal()) : error;
      } finally {
        clearInterval(beat);
      }
      return { at: services.now().toISOString() };
    },

    async recoverOperation({ world: ref, operation, dispatch }) {
      const world = await worlds.open(ref);
      const { row, effects } = await world.ledger.recover(operation, dispatch);
      if (row?.state === 'committed') return { found: 'committed' };
      if (row?.state === 'failed' && row.problem) {
        return { found: 'failed', problem: { ...row.problem, message: printable(row.problem.message, MAX_PROBLEM_LENGTH) } };
      }
      return effects > 0 ? { found: 'undetermined' } : { found: 'absent' };
    },

    async fence({ world: ref }) {
      const world = await worlds.open(ref);
      await world.fence({ drainMs: FENCE_DRAIN_MS });
      failpoint('fenced_before_grade');
    },

    gradeTrial: (request) => gradeTrial(services, contexts, request),

    async keepWorld({ trial, attempt, world: ref }) {
      const id = snapshotId({ trial, attempt });
      const world = await worlds.open(ref);
      const snapshot = await world.snapshot();
      await store.putSnapshot(id, trial, attempt, JSON.parse(JSON.stringify(snapshot)));
      return id;
    },

    async releaseWorld({ world: ref }) {
      const world = await worlds.open(ref).catch((error: unknown) => {
        // Released by an earlier try whose reply was lost.
        if ((error as { code?: unknown }).code === 'world_gone') return null;
        throw error;
      });
      await world?.release();
      failpoint('released_before_finished');
    },

    finishAttempt: (request) => finishAttempt(store, request, services.now()),
  });
}

async function gradeTrial(services: ActivityServices, contexts: TrialContexts, request: GradeRequest): Promise<GradeResult> {
  const { store, worlds, failpoint } = services;
  const { trial, attempt } = request;
  const context = await contexts.get(trial);
  const { kase, environment } = context;
  const world = await worlds.open(request.world);
  const byReference = kase.expect.outcomes.some((outcome) => 'same_as' in outcome);
  const reference = byReference
    ? await referenceEffects(services, {
        environment,
        kase,
        caseHash: context.trial.caseHash,
        owner: `${ownerOf(request)}.reference`,
        workflowId: trial,
        signal: cancellationSignal(),
      })
    : null;
  const stored = await store.record(trial, attempt);
  const record = stored ?? (await buildRecord(world, environment.environment, request, await store.messages(trial, attempt), reference));
  if (!stored) await store.putRecord(trial, attempt, record);
  failpoint('recorded_before_verdict');
  const verdict = grade(kase, context.trial.caseHash, record);
  await store.addVerdict(trial, attempt, verdict);
  return gradeOf(verdict);
}

/** Plan of a trial that has its result. */
const NOTHING_TO_DO = { agent: 'script', tools: {}, budget: { calls: 0, wallMs: 0, turns: 0 }, keep: 'never', slowWorld: false } as const;

function planOf({ environment, batch, kase, agent }: TrialContext): AttemptPlan {
  const tools: Record<string, ToolPlan> = {};
  for (const tool of environment.environment.tools) {
    tools[tool.name] = {
      effect: tool.effect,
      timeoutMs: tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
      local: tool.effect === 'read' && (tool.typicalMs ?? LOCAL_READ_MS) <= LOCAL_READ_MS,
      definite: [...(tool.failures ?? []), ...SERVICE_FAILURES],
      ...(tool.ends ? { ends: true } : {}),
    };
  }
  return {
    done: null,
    agent: agent.kind === 'module' ? 'module' : 'script',
    tools,
    budget: kase.budget,
    keep: batch.options.keep,
    slowWorld: batch.options.isolation !== 'schema',
  };
}

function ownerOf({ trial, attempt }: AttemptRef): string {
  return `${trial}.${attempt}`;
}

/** Every activity ends with a failure that the workflow can tell apart. */
function guard(activities: TrialActivities): TrialActivities {
  const guarded = Object.entries(activities).map(([name, run]: [string, (request: never) => Promise<unknown>]) => [
    name,
    async (request: never) => {
      try {
        return await run(request);
      } catch (error) {
        throw toFailure(error);
      }
    },
  ]);
  return Object.fromEntries(guarded) as TrialActivities;
}
