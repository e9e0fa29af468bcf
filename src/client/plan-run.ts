import { requireGateLabels } from '../domain/gates/gate-labels.ts';
import type { Money } from '../domain/model.ts';
import { isLive } from '../environments/live.ts';
import type { BatchOptions, BatchPlan } from '../store/store.ts';
import type { LoadedAgent, LoadedSchedule, Suite } from '../suite/suite.ts';
import { contentOf } from '../worker/content.ts';
import type { Root } from '../worker/root.ts';
import type { RunRequest } from './api.ts';
import { requireLiveVariables } from './live-variables.ts';
import { requireAccess, requirePrices } from './agent-access.ts';
import { casesOnCassettes, onVariantsOfItsOwn, requireNoAccess, requireRecordedModels } from './cassettes/play.ts';
import { onlyLastFailed } from './last-failed.ts';
import { type PlannedTrial, planBatch } from './plan.ts';
import type { ReadSuite } from './read-suite.ts';
import { selectCases, selectShard, tagsOf, trialsOf } from './select.ts';
import { selectSchedules } from './select-schedules.ts';

const DEFAULT_CONCURRENCY = 8;
/** Of environments with real services, which have few workers and do not like to be stormed. */
const LIVE_CONCURRENCY = 2;
const RETRIES = 2;

/** What a request comes to, before anything of it is stored. */
export interface PlannedRun {
  readonly suite: Suite;
  readonly agents: readonly LoadedAgent[];
  readonly schedules: readonly (LoadedSchedule | null)[];
  readonly trials: readonly PlannedTrial[];
  readonly plan: BatchPlan;
  /** Null: no limit. */
  readonly maxCost: Money | null;
}

/** Chooses the trials of a request and makes the manifest of their batch. Stores nothing. @throws {NothingToRunError} @throws {AgentAccessError} @throws {GateSyntaxError} */
export async function planRun(
  { store, config }: Pick<Root, 'store' | 'config'>,
  { suite, environment, agents }: ReadSuite,
  request: RunRequest,
): Promise<PlannedRun> {
  const deployment = request.deployment ?? config.deployment;
  const options = {
    ...optionsOf(request, suite.defaults, isLive(environment.environment)),
    ...(deployment !== null && { deployment: { name: deployment, content: contentOf(environment.generation, agents) } }),
  };
  requireGateLabels(request.gates ?? [], tagsOf(suite.cases));
  requireAccess(agents, options.isolation);
  // Workers of a deployment have variables of their own.
  if (deployment === null && !request.cassettes) requireLiveVariables(environment.environment);
  const maxCost = request.maxCost ?? suite.defaults.maxCost ?? null;
  requirePrices(agents, maxCost);
  const selected = selectCases(suite.cases, request);
  const { cassettes } = request;
  if (cassettes) requireNoAccess(agents);
  const cases = cassettes ? await casesOnCassettes(suite, selected, cassettes) : selected;
  // What went wrong when a cassette was recorded is in the recording.
  const schedules = cassettes ? [null] : selectSchedules(suite, cases, request);
  const trialsFor = (repetitions: number) => {
    const trials = trialsOf(cases, schedules, agents, repetitions);
    return cassettes && !cassettes.variants ? onVariantsOfItsOwn(trials) : trials;
  };
  const chosen = request.lastFailed ? await onlyLastFailed(store, suite.name, trialsFor, request.trials) : trialsFor(request.trials ?? suite.defaults.trials);
  const trials = selectShard(chosen, request.shard);
  if (cassettes) requireRecordedModels(trials);
  const plan = await planBatch({ suite, environment, trials, options, seed: request.seed ?? null });
  return { suite, agents, schedules, trials, plan, maxCost };
}

function optionsOf(request: RunRequest, { addresses, unverified, gates = [] }: Suite['defaults'], live: boolean): BatchOptions {
  return {
    isolation: request.isolation ?? 'schema',
    // Of what stands for a world on a cassette there is nothing to keep, and real services cannot be set back to what they were.
    keep: request.cassettes || live ? 'never' : (request.keep ?? 'failed'),
    concurrency: Math.max(1, request.concurrency ?? (live ? LIVE_CONCURRENCY : DEFAULT_CONCURRENCY)),
    retries: RETRIES,
    ...(request.priority !== undefined && { priority: request.priority }),
    ...(request.human && { human: true }),
    ...((request.unverified ?? unverified) && { unverified: request.unverified ?? unverified }),
    ...(addresses && { addresses }),
    ...((request.gates ?? gates).length > 0 && { gates: request.gates ?? gates }),
    ...(request.allowMisses && { allowMisses: true as const }),
  };
}
