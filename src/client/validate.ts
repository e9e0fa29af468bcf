import type { Case } from '../domain/case.ts';
import type { AgentSpec } from '../domain/agent.ts';
import type { TrialSummary } from '../domain/trial.ts';
import { type Mutant, mutantsOf } from '../domain/mutants/mutants.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { labelsOf } from '../domain/case-labels.ts';
import { quarantineWarnings } from '../suite/quarantine-warnings.ts';
import { idleRules } from '../suite/idle-rules.ts';
import { contentHash } from '../suite/identity.ts';
import type { LoadedAgent, LoadedCase } from '../suite/suite.ts';
import type { Root } from '../worker/root.ts';
import type { ValidationReport, ValidationResult } from './api.ts';
import { requireFinishedCassettes } from './cassettes/draft-problems.ts';
import { openSuite } from './open-suite.ts';
import { planBatch, type PlannedTrial } from './plan.ts';
import { selectCases } from './select.ts';
import { startBatch, type WorkFor } from './start-batch.ts';
import { validationReport } from './validation-report.ts';

/** How long a trial of a validation that was stopped may take to end itself. */
const CANCEL_MS = 15_000;

export interface ValidateOptions {
  readonly cases?: readonly string[];
  readonly concurrency?: number;
  /** Default true. */
  readonly mutants?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
  /** When raised, nothing more is started and the validation's batch is cancelled. */
  readonly signal?: AbortSignal;
}

interface Variant extends PlannedTrial {
  readonly id: string;
  readonly description: string;
  /** Where in the case file the variant differs from the solution. */
  readonly path: string;
  readonly kind: 'reference' | 'do-nothing' | 'mutant';
}

/** Tests the cases before they test anybody: the reference must pass; a do-nothing agent and every mutant of the reference must fail. Each is a real trial. */
export async function validate(root: Root, suiteName: string, options: ValidateOptions, workFor: WorkFor): Promise<ValidationReport> {
  const { suite, environment } = await openSuite(root, suiteName);
  const cases = selectCases(suite.cases, options.cases ? { cases: options.cases } : {});
  await requireFinishedCassettes(suite, cases);
  const variants = cases.flatMap((kase) => variantsOf(kase, environment, options.mutants ?? true));
  const plan = await planBatch({
    suite: { ...suite, name: `${suite.name} (validation)` },
    environment,
    trials: variants,
    options: { isolation: 'schema', keep: 'never', concurrency: options.concurrency ?? 8, retries: 2 },
    seed: null,
  });
  await root.store.putDocuments({
    cases: cases.map(({ hash, kase }) => ({ hash, kase })),
    agents: variants.map(({ agent }) => ({ hash: agent.hash, spec: agent.spec })),
  });
  options.signal?.throwIfAborted();
  await root.store.createBatch(plan);
  const batch = await root.store.batch(plan.id);
  if (!batch) throw new Error(`batch ${plan.id} was stored and cannot be found`);
  const { taskQueue, broken } = await workFor(batch).catch(async (error: unknown) => {
    await abandon(root, batch.id);
    throw error;
  });
  const handle = startBatch(root, batch, false, broken, taskQueue);
  const stop = () => void handle.interrupt().catch(() => {});
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener('abort', stop, { once: true });
  const byTrial = new Map(plan.trials.map((trial, index) => [trial.id, variants[index]]));
  const results: ValidationResult[] = [];
  try {
    for await (const event of handle.events()) {
      if (event.type !== 'trial') continue;
      const variant = byTrial.get(event.trial);
      if (variant) results.push(resultOf(variant, event, await findingsOf(root, event)));
      options.onProgress?.(results.length, variants.length);
    }
    await handle.result();
    options.signal?.throwIfAborted();
  } catch (error) {
    await abandon(root, batch.id);
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  const recovery = environment.environment.tools.filter(({ builtin }) => builtin !== undefined).map(({ name }) => name);
  const labels = cases.map(({ kase }) => ({ case: kase.id, ...labelsOf(kase) }));
  const warnings = [...idleRules(Object.values(suite.schedules), cases, recovery), ...quarantineWarnings(cases, root.now().toISOString())];
  const report = validationReport(suite.name, labels, inOrder(results, variants), warnings);
  const rubrics = Object.values(suite.rubrics).map(({ rubric: { name, version, scale } }) => ({
    name,
    version,
    categories: scale.map(({ category }) => category),
  }));
  return rubrics.length === 0 ? report : { ...report, rubrics };
}

/**
 * A validation that did not come to its end is never resumed: its batch is cancelled, and so are the trials that are under way. Its worker is still there,
 * so they end themselves and give their worlds back; one that does not is terminated, and its world is left to the sweeper.
 */
async function abandon(root: Root, batch: string): Promise<void> {
  await root.store.setBatchState(batch, 'cancelled').catch(() => {});
  const left = await root.store.trials(batch, { underWay: true }).catch(() => []);
  await Promise.allSettled(
    left.map(async ({ id }) => {
      const workflow = root.temporal.workflow.getHandle(id);
      await workflow.cancel();
      const late = AbortSignal.timeout(CANCEL_MS);
      await root.temporal.withAbortSignal(late, () => workflow.result()).catch(() => {});
      if (late.aborted) await workflow.terminate('the validation was stopped and the trial did not end');
    }),
  );
}

function variantsOf(kase: LoadedCase, environment: LoadedEnvironment, withMutants: boolean): readonly Variant[] {
  const { kase: spec } = kase;
  const reference: Variant = {
    id: 'reference',
    description: 'the reference solution',
    path: 'reference',
    kind: 'reference',
    kase,
    schedule: null,
    repetition: 1,
    agent: agentOf({ kind: 'reference', name: 'reference', version: '1' }),
  };
  const idle: Variant = {
    id: 'do-nothing',
    description: 'an agent that calls nothing and says nothing of substance',
    path: 'expect',
    kind: 'do-nothing',
    kase,
    schedule: null,
    repetition: 1,
    agent: agentOf({ kind: 'do-nothing', name: 'do-nothing', version: '1', answer: '' }),
  };
  const tools = Object.fromEntries(environment.environment.tools.map((tool) => [tool.name, { effect: tool.effect }]));
  const mutants = withMutants ? mutantsOf(spec, tools).map((mutant) => mutantVariant(kase, mutant)) : [];
  return [reference, idle, ...mutants];
}

function mutantVariant(kase: LoadedCase, mutant: Mutant): Variant {
  const agent = agentOf({ kind: 'script', name: `mutant ${mutant.id}`, version: '1', solution: mutant.solution });
  return { id: mutant.id, description: mutant.description, path: mutant.path, kind: 'mutant', kase, schedule: null, agent, repetition: 1 };
}

function agentOf(spec: AgentSpec): LoadedAgent {
  return { spec, hash: contentHash(spec) };
}

/** Codes of what the grader found wrong, as the stored verdict has them. */
async function findingsOf(root: Root, { trial, pass }: TrialSummary): Promise<readonly string[]> {
  if (pass === null || pass === 'pass') return [];
  const verdict = (await root.store.verdicts(trial)).find((one) => one.current);
  const views = verdict ? [verdict.outcome, verdict.constraints, verdict.effects] : [];
  return views.flatMap((view) => view.findings.filter((finding) => finding.judgement !== 'pass').map((finding) => finding.code));
}

function resultOf(variant: Variant, summary: TrialSummary, findings: readonly string[]): ValidationResult {
  const { kase } = variant.kase;
  const verdict = summary.pass ?? 'infra_error';
  const explained = variant.kind === 'mutant' ? explanationOf(kase, variant.id) : null;
  const expected = variant.kind === 'reference' || (variant.kind === 'do-nothing' && kase.expectsNothing) ? verdict === 'pass' : verdict === 'fail';
  return {
    case: kase.id,
    file: variant.kase.file,
    variant: variant.id,
    description: variant.description,
    verdict,
    ok: expected || (verdict !== 'infra_error' && explained !== null),
    explained,
    line: variant.kase.lineOf(variant.path),
    why: summary.why,
    sameEnd: summary.outcome === 'pass' && summary.effects === 'pass',
    findings,
  };
}

function explanationOf(kase: Case, mutant: string): string | null {
  const note = kase.mutants.find(({ mutant: pattern }) => (pattern.endsWith('*') ? mutant.startsWith(pattern.slice(0, -1)) : pattern === mutant));
  return note?.why ?? null;
}

function inOrder(results: readonly ValidationResult[], variants: readonly Variant[]): readonly ValidationResult[] {
  const order = new Map(variants.map((variant, index) => [`${variant.kase.kase.id}\n${variant.id}`, index]));
  const place = (result: ValidationResult) => order.get(`${result.case}\n${result.variant}`) ?? 0;
  return [...results].sort((a, b) => place(a) - place(b));
}
