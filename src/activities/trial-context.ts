import { ApplicationFailure } from '@temporalio/activity';
import type { AgentSpec } from '../domain/agent.ts';
import type { Case } from '../domain/case.ts';
import type { DrawnRule } from '../domain/fault.ts';
import { offeredBy } from '../environments/runtime-tools.ts';
import { withHandOver } from '../environments/team-tool.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import type { BatchRow, TrialRow } from '../store/store.ts';
import { drawRules } from '../suite/draw.ts';
import type { ActivityServices } from './services.ts';

/** What a trial is made of, by content; never changes while the trial lives. */
export interface TrialContext {
  readonly trial: TrialRow;
  /** What the batch was made with; how it is controlled meanwhile is not to be read here. */
  readonly batch: Pick<BatchRow, 'id' | 'environment' | 'seed' | 'options'>;
  readonly kase: Case;
  readonly agent: AgentSpec;
  /** As the case offers it: see `offeredBy`; to a team, with its hand-over. */
  readonly environment: LoadedEnvironment;
  /** As the pack has it; of which worlds are made. */
  readonly pack: LoadedEnvironment;
  /** Rules of the trial's fault schedule, drawn from the batch's seed; empty without one. */
  readonly rules: readonly DrawnRule[];
}

/** Contexts that are kept: as many trials as may be in flight on one worker, and some more. */
const KEPT = 500;

/** Loads trial contexts and keeps the newest ones, since every step of a trial asks for its own. */
export class TrialContexts {
  private readonly services: Pick<ActivityServices, 'store' | 'content'>;
  private readonly kept = new Map<string, Promise<TrialContext>>();
  /** Documents, which many trials share, by hash. */
  private readonly shared = new Map<string, Promise<unknown>>();

  constructor(services: Pick<ActivityServices, 'store' | 'content'>) {
    this.services = services;
  }

  /** `row`: the trial's, where it has been read. @throws {ApplicationFailure} `TrialMissing`, or `GenerationMismatch` when the environment's files are not those that the batch was made with. */
  get(trial: string, row?: TrialRow): Promise<TrialContext> {
    return keep(this.kept, trial, () => this.load(trial, row));
  }

  private async load(id: string, row?: TrialRow): Promise<TrialContext> {
    const { store, content } = this.services;
    const trial = row ?? (await store.trial(id));
    const batch = trial && (await store.batch(trial.batch));
    const kase = trial && (await this.once(`case ${trial.caseHash}`, () => store.caseDocument(trial.caseHash)));
    const agent = trial && (await this.once(`agent ${trial.agentHash}`, () => store.agentDocument(trial.agentHash)));
    if (!trial || !batch || !kase || !agent) throw ApplicationFailure.nonRetryable(`trial ${id} is not in the store`, 'TrialMissing');
    const environment = await content.environment(batch.environment);
    if (environment.generation !== batch.environment.generation) {
      throw ApplicationFailure.nonRetryable(
        `environment ${batch.environment.name} has changed since the batch was made (${batch.environment.generation.slice(0, 12)} then, ${environment.generation.slice(0, 12)} now); run the suite again for a new batch`,
        'GenerationMismatch',
      );
    }
    const schedule = trial.scheduleHash === null ? null : await store.scheduleDocument(trial.scheduleHash);
    if (trial.scheduleHash !== null && !schedule)
      throw ApplicationFailure.nonRetryable(`the fault schedule of trial ${id} is not in the store`, 'TrialMissing');
    const rules = schedule ? drawRules(schedule.schedule, { seed: batch.seed, caseId: trial.caseId, repetition: trial.repetition }) : [];
    const spec = content.agent(trial.agentHash, agent.spec);
    const offered = offeredBy(environment, kase.kase);
    const met = spec.kind === 'team' ? withHandOver(offered, spec.tool, spec.members) : offered;
    return { trial, batch, kase: kase.kase, agent: spec, environment: met, pack: environment, rules };
  }
  private async once<T>(what: string, load: () => Promise<T | null>): Promise<T | null> {
    const found = (await keep(this.shared, what, load)) as T | null;
    // What is not there yet is asked for again.
    if (found === null) this.shared.delete(what);
    return found;
  }
}

/** Loads what is not kept. A load that failed is tried again, not remembered. */
function keep<T>(kept: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const known = kept.get(key);
  if (known) return known;
  const loading = load();
  kept.set(key, loading);
  loading.catch(() => kept.delete(key));
  const oldest = kept.keys().next();
  if (kept.size > KEPT && !oldest.done) kept.delete(oldest.value);
  return loading;
}
