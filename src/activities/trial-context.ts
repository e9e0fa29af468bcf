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
  readonly batch: BatchRow;
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

  constructor(services: Pick<ActivityServices, 'store' | 'content'>) {
    this.services = services;
  }

  /** @throws {ApplicationFailure} `TrialMissing`, or `GenerationMismatch` when the environment's files are not those that the batch was made with. */
  get(trial: string): Promise<TrialContext> {
    const known = this.kept.get(trial);
    if (known) return known;
    const loading = this.load(trial);
    this.kept.set(trial, loading);
    // A failed load must be tried again, not remembered.
    loading.catch(() => this.kept.delete(trial));
    const oldest = this.kept.keys().next();
    if (this.kept.size > KEPT && !oldest.done) this.kept.delete(oldest.value);
    return loading;
  }

  private async load(id: string): Promise<TrialContext> {
    const { store, content } = this.services;
    const trial = await store.trial(id);
    const batch = trial && (await store.batch(trial.batch));
    const kase = trial && (await store.caseDocument(trial.caseHash));
    const agent = trial && (await store.agentDocument(trial.agentHash));
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
}
