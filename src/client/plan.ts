import { customAlphabet } from 'nanoid';
import { partsOf } from '../domain/agent.ts';
import { labelsOf } from '../domain/case-labels.ts';
import { NO_FAULTS } from '../domain/fault.ts';
import { servicesOf } from '../environments/facts.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { sourceOfAgent } from '../suite/agent-file.ts';
import { gitState } from '../suite/git-state.ts';
import { contentHash, manifestHash, sha256, trialId } from '../suite/identity.ts';
import type { LoadedAgent, LoadedCase, LoadedSchedule, Suite } from '../suite/suite.ts';
import type { BatchOptions, BatchPlan, TrialPlan } from '../store/store.ts';
import { gitVariables } from '../worker/config.ts';

/** Lower case and digits: an id is typed, becomes part of a workflow id and of a folder's name. */
const newId = customAlphabet('23456789abcdefghjkmnpqrstuvwxyz', 10);

/** One combination that a batch runs. */
export interface PlannedTrial {
  readonly kase: LoadedCase;
  /** Null: without faults. */
  readonly schedule: LoadedSchedule | null;
  readonly agent: LoadedAgent;
  readonly repetition: number;
}

export interface PlanRequest {
  readonly suite: Suite;
  readonly environment: LoadedEnvironment;
  readonly trials: readonly PlannedTrial[];
  readonly options: BatchOptions;
  /** Null: made from the batch's id. */
  readonly seed: string | null;
}

/** Makes the manifest of a batch: equal content gives an equal manifest hash, a new batch always gives new ids. */
export async function planBatch(request: PlanRequest): Promise<BatchPlan> {
  const { suite, environment, options } = request;
  const id = newId();
  const seed = request.seed ?? id;
  const contents = request.trials.map(({ kase, schedule, agent, repetition }) => ({
    caseId: kase.kase.id,
    caseHash: kase.hash,
    agentName: agent.spec.name,
    agentHash: agent.hash,
    schedule: schedule?.schedule.name ?? NO_FAULTS.name,
    scheduleHash: schedule?.hash ?? null,
    repetition,
  }));
  const trials: TrialPlan[] = contents.map((content) => ({ id: trialId(id, { ...content, generation: environment.generation }), ...content }));
  const sources = await sourcesOf(request);
  return {
    id,
    suite: suite.name,
    suiteFile: suite.file,
    manifestHash: manifestHash({
      suite: suite.name,
      generation: environment.generation,
      isolation: options.isolation,
      // Part of the content only where the user chose it: a derived seed differs by batch.
      seed: request.seed,
      trials: contents,
      ...(options.human && { human: true }),
      ...(options.human && options.unverified === 'refuse' && { unverified: 'refuse' }),
    }),
    environment: {
      name: environment.environment.name,
      version: environment.environment.version,
      file: environment.source.file,
      options: environment.source.options,
      generation: environment.generation,
      facts: {
        services: servicesOf(environment.environment),
        tools: environment.toolSchemas.map((tool) => ({ name: tool.name, effect: tool.effect, schema: contentHash(tool) })),
        policy: environment.policy === null ? null : sha256(environment.policy),
      },
    },
    seed,
    options,
    sources,
    labels: Object.fromEntries(request.trials.map(({ kase }) => [kase.kase.id, labelsOf(kase.kase)])),
    trials,
  };
}

/** Where suite, environment and agents stand in their histories. An agent that is part of a program, such as `reference`, has no file of its own. */
async function sourcesOf({ suite, environment, trials }: PlanRequest): Promise<BatchPlan['sources']> {
  const files = new Map([
    ['suite', suite.file],
    ['environment', environment.source.file],
  ]);
  for (const { agent } of trials) {
    for (const spec of partsOf(agent.spec)) {
      const file = spec.kind === 'module' ? spec.file : spec.kind === 'command' ? spec.folder : sourceOfAgent({ spec })?.file;
      if (file !== undefined) files.set(`agent ${spec.name}`, file);
    }
  }
  const env = gitVariables();
  const states = await Promise.all([...files].map(async ([what, file]) => [what, await gitState(file, env)] as const));
  return Object.fromEntries(states);
}
