import type { EnvironmentFacts } from '../../domain/environment-facts.ts';
import { latencyOf, type NightFaults, type NightVersions } from '../../domain/night.ts';
import type { TrialFacts } from '../../domain/trial-facts.ts';
import type { Root } from '../../worker/root.ts';
import { ownVersion } from '../../worker/version.ts';

/** Codes and words of problems, by what they say of a service. */
const RATE_LIMITED = /rate_limited|too_many|\b429\b/i;
const UNAVAILABLE = /unavailable|unreachable|refused_connection|\b503\b/i;
const TIMED_OUT = /unknown|time_?out|timed_out|outcome/i;

/** The versions of everything that a batch talked to, as each names itself. */
export async function versionsOf(root: Pick<Root, 'store' | 'temporal'>, batchId: string, facts: readonly TrialFacts[]): Promise<NightVersions> {
  const { store, temporal } = root;
  const batch = await store.batch(batchId);
  const documents = await store.documentsOf(batchId);
  const calls = await store.modelCallsOf(batchId);
  const live = await liveOf(root, facts);
  const system = await temporal.workflowService.getSystemInfo({});
  const models = new Map<string, Set<string>>();
  for (const { call } of calls) models.set(`model ${call.model}`, (models.get(`model ${call.model}`) ?? new Set()).add(call.reported ?? 'it reports none'));
  return {
    trialbed: await ownVersion(),
    node: process.version,
    Temporal: system.serverVersion ?? 'unknown',
    PostgreSQL: await store.serverVersion(),
    ...(batch && { [`environment ${batch.environment.name}`]: `${batch.environment.version} (${batch.environment.generation.slice(0, 12)})` }),
    ...Object.fromEntries(toolsOf(batch?.environment.facts)),
    ...Object.fromEntries(
      Object.entries(batch?.sources ?? {}).flatMap(([what, { commit, dirty }]) =>
        commit === null ? [] : [[`sources of ${what}`, `${commit.slice(0, 12)}${dirty ? ', changed' : ''}`]],
      ),
    ),
    ...Object.fromEntries(documents.agents.map(({ hash, spec }) => [`agent ${spec.name}`, hash.slice(0, 12)])),
    ...Object.fromEntries(Object.entries(live).map(([service, version]) => [`live ${service}`, version])),
    ...Object.fromEntries([...models].map(([name, reported]) => [name, [...reported].sort().join(', ')])),
  };
}

/** What real services call themselves, by the newest trial that says so. */
async function liveOf({ store }: Pick<Root, 'store'>, facts: readonly TrialFacts[]): Promise<{ readonly [service: string]: string }> {
  for (const { trial, attempts } of facts.toReversed()) {
    const live = (await store.record(trial, attempts))?.live;
    if (live) return { ...live };
  }
  return {};
}

function toolsOf(facts: EnvironmentFacts | undefined): readonly (readonly [string, string])[] {
  return (facts?.tools ?? []).map(({ name, schema }) => [`tool ${name}`, schema.slice(0, 12)] as const);
}

/** What went wrong in the trials of a batch, as they met it. */
export async function faultsOf({ store }: Pick<Root, 'store'>, batch: string, facts: readonly TrialFacts[]): Promise<NightFaults> {
  const toolMs: number[] = [];
  let [rateLimited, unavailable, timedOut] = [0, 0, 0];
  const note = (said: string): void => {
    if (RATE_LIMITED.test(said)) rateLimited += 1;
    else if (UNAVAILABLE.test(said)) unavailable += 1;
    else if (TIMED_OUT.test(said)) timedOut += 1;
  };
  for (const { trial, attempts } of facts) {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      for (const { told, problem, durationMs } of (await store.record(trial, attempt))?.operations ?? []) {
        if (durationMs !== null) toolMs.push(durationMs);
        if (told === 'unknown') timedOut += 1;
        else if (problem) note(problem.code);
      }
    }
  }
  const calls = (await store.modelCallsOf(batch)).map(({ call }) => call);
  for (const { problem } of calls) if (problem) note(`${problem.code} ${problem.message}`);
  return {
    rateLimited,
    unavailable,
    timedOut,
    disturbed: facts.filter(({ disturbed }) => disturbed).length,
    toolMs: latencyOf(toolMs),
    modelMs: latencyOf(calls.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))),
  };
}
