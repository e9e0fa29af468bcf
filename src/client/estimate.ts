import { partsOf } from '../domain/agent.ts';
import { type LabelledCase, labelsOf } from '../domain/case-labels.ts';
import { type Estimate, estimateRun, type PlannedKind } from '../domain/estimate.ts';
import { NO_FAULTS } from '../domain/fault.ts';
import type { Money } from '../domain/model.ts';
import type { Root } from '../worker/root.ts';
import type { RunRequest } from './api.ts';
import { isDone } from '../activities/record-broken.ts';
import type { PlannedTrial } from './plan.ts';
import { planRun } from './plan-run.ts';
import { readSuite, suiteRequestOf } from './read-suite.ts';

/** What a run would be, estimated from earlier batches of its suite. */
export interface RunEstimate extends Estimate {
  readonly type: 'estimate';
  readonly suite: string;
  /** Trials in flight. */
  readonly concurrency: number;
  /** Nothing is launched once models have cost so much; null: no limit. */
  readonly maxCost: Money | null;
  /** Severity, tags and quarantine of each case of the run. */
  readonly labels: readonly LabelledCase[];
  /** When it was estimated, ISO 8601: the day by which quarantines hold. */
  readonly today: string;
  /** The interrupted batch that the run would go on with; what is done of it is not among the trials. Null: it would make a new one. */
  readonly resumes: { readonly batch: string; readonly done: number } | null;
}

/** Estimates what a request would take. Starts no trial, makes no batch and no world. */
export async function estimate(
  { store, config, loadEnvironment, now }: Pick<Root, 'store' | 'config' | 'loadEnvironment' | 'now'>,
  request: RunRequest,
): Promise<RunEstimate> {
  const read = await readSuite(suiteRequestOf(request), { loadEnvironment });
  const { suite, agents, trials, plan, maxCost } = await planRun({ store, config }, read, request);
  const unfinished = await store.unfinishedBatch(plan.manifestHash);
  const rows = unfinished === null ? [] : await store.trials(unfinished.id);
  const done = new Set(rows.filter(({ summary }) => isDone(summary)).map((row) => keyOf(row.caseId, row.schedule, row.agentName, row.repetition)));
  const left = trials.filter((trial) => {
    const { kase, schedule, agent } = namesOf(trial);
    return !done.has(keyOf(kase, schedule, agent, trial.repetition));
  });
  const samples = await store.samples(
    suite.name,
    agents.map(({ spec }) => spec.name),
  );
  const { concurrency } = plan.options;
  return {
    type: 'estimate',
    suite: suite.name,
    ...estimateRun(kindsOf(left), samples, concurrency),
    concurrency,
    maxCost,
    labels: labelledCases(trials),
    today: now().toISOString(),
    resumes: unfinished === null ? null : { batch: unfinished.id, done: done.size },
  };
}

/** Each case once, in the manifest's order. */
function labelledCases(trials: readonly PlannedTrial[]): readonly LabelledCase[] {
  const cases = new Map(trials.map(({ kase: { kase } }) => [kase.id, kase]));
  return [...cases.values()].map((kase) => ({ case: kase.id, ...labelsOf(kase) }));
}

/** In the manifest's order. */
function kindsOf(trials: readonly PlannedTrial[]): readonly PlannedKind[] {
  const kinds = new Map<string, PlannedKind>();
  for (const trial of trials) {
    const { kase, schedule, agent } = namesOf(trial);
    const key = keyOf(kase, schedule, agent, 0);
    const known = kinds.get(key);
    kinds.set(key, { case: kase, schedule, agent, trials: (known?.trials ?? 0) + 1, asksModels: asksModels(trial) });
  }
  return [...kinds.values()];
}

function asksModels({ agent, kase: { kase } }: PlannedTrial): boolean {
  const routes = partsOf(agent.spec).some((spec) => spec.kind === 'model' || ('routes' in spec && (spec.routes?.length ?? 0) > 0));
  return routes || kase.conversation?.user === 'model';
}

function namesOf({ kase, schedule, agent }: PlannedTrial): { readonly kase: string; readonly schedule: string; readonly agent: string } {
  return { kase: kase.kase.id, schedule: schedule?.schedule.name ?? NO_FAULTS.name, agent: agent.spec.name };
}

function keyOf(kase: string, schedule: string, agent: string, repetition: number): string {
  return JSON.stringify([kase, schedule, agent, repetition]);
}
