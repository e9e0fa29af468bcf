import { memberPermission } from '../../domain/agent.ts';
import type { Case } from '../../domain/case.ts';
import type { Cassette, Judgements } from '../../domain/cassette.ts';
import { NO_FAULTS } from '../../domain/fault.ts';
import type { Json } from '../../domain/json.ts';
import { differenceText } from '../../cassettes/differences.ts';
import { withEffectsOf } from '../../cassettes/fill-effects.ts';
import { cassetteOfTrial, NotRecordableError, type TrialToRecord } from '../../cassettes/record-cassette.ts';
import { changeOf, type CassetteChange, writeCassette } from '../../cassettes/write-cassette.ts';
import { bindingOf } from '../../environments/binding.ts';
import type { TrialRow } from '../../store/store.ts';
import { TRACE_VARIANT } from '../../drafts/draft-cassette.ts';
import { cassetteFile, cassetteFolder, isVariantName, readCassettes } from '../../suite/cassette-file.ts';
import { readSuite } from '../read-suite.ts';
import type { Root } from '../../worker/root.ts';
import type { BatchHandle, RunRequest } from '../api.ts';
import { selectCases, trialsOf } from '../select.ts';
import { selectSchedules } from '../select-schedules.ts';
import type { PlannedTrial } from '../plan.ts';
import { CassetteError } from './errors.ts';
import { modelsOf, requireRecordableModels } from './record-models.ts';

/** What to record. */
export interface RecordRequest {
  readonly suite: string;
  /** Globs over case ids; any may match. Default: all. */
  readonly cases?: readonly string[];
  /** Default: `reference`. */
  readonly agents?: readonly string[];
  /** Default: none. */
  readonly faults?: readonly string[];
  /** Name of the cassette. Default: the agent's name, with that of its fault schedule behind a dot. */
  readonly variant?: string;
  /** Default: the folder `cassettes` of the suite. */
  readonly folder?: string;
  readonly environmentOptions?: { readonly [name: string]: Json };
  readonly concurrency?: number;
  /** More cassettes than {@link AT_ONCE} are wanted. Default false. */
  readonly many?: boolean;
  /** What the agent's model replied is recorded as well, for agents of kind `model`. Default false. */
  readonly models?: boolean;
  /** Of cassettes that were drafted from traces: only what their calls change is taken, and what they answered stays. Default false. */
  readonly effects?: boolean;
  /** Nothing is written. Default false. */
  readonly dryRun?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
  /** When raised, the batch is left and nothing is written. */
  readonly signal?: AbortSignal;
}

/** So many cassettes are recorded without a word for more. */
export const AT_ONCE = 5;

/** What became of one cassette. */
export interface RecordedCassette {
  readonly case: string;
  readonly variant: string;
  readonly agent: string;
  readonly file: string;
  readonly state: CassetteChange['state'] | 'not_recorded';
  /** Why it was not recorded; null: it was. */
  readonly why: string | null;
  readonly interactions: number;
  /** Differences from the file that was there, as lines; at most 200. */
  readonly differences: readonly string[];
  readonly moreDifferences: number;
  /** Values that were replaced, by kind. */
  readonly hidden: { readonly [kind: string]: number };
  readonly verdict: Judgements | null;
  /** What the verdict was before, where it is another one. */
  readonly verdictChanges: readonly string[];
}

export interface RecordReport {
  readonly type: 'recording';
  readonly suite: string;
  readonly batch: string;
  readonly folder: string;
  readonly dryRun: boolean;
  readonly cassettes: readonly RecordedCassette[];
}

const SHOWN_DIFFERENCES = 200;

/** Which cassettes a request would record. Needs no service. @throws {CassetteError} @throws {NothingToRunError} @throws {SuiteFileError} */
export async function planRecording({ loadEnvironment }: Pick<Root, 'loadEnvironment'>, request: RecordRequest) {
  const { suite: name, environmentOptions = {}, agents: asked = ['reference'], faults = [NO_FAULTS.name], many = false } = request;
  const variant = request.variant ?? (request.effects ? TRACE_VARIANT : undefined);
  const { suite, environment, agents } = await readSuite({ suite: name, environmentOptions, agents: asked }, { loadEnvironment });
  if (bindingOf(environment.environment) === 'production')
    throw new CassetteError(`environment ${environment.environment.name} is bound to production; cassettes are recorded from a fixture or a sandbox only`);
  if (variant !== undefined && !isVariantName(variant))
    throw new CassetteError(`"${variant}" cannot be the name of a cassette; it may hold letters, digits, "_", "." and "-", at most 100`);
  const cases = selectCases(suite.cases, request);
  if (request.models) requireRecordableModels(suite, cases, agents);
  const trials = trialsOf(cases, selectSchedules(suite, cases, { faults }), agents, 1);
  const planned = trials.map((trial) => ({ trial, variant: variant ?? variantOf(trial) }));
  const twice = planned.find((one, index) => planned.findIndex((other) => sameFile(one, other)) !== index);
  if (twice)
    throw new CassetteError(
      `cassette ${twice.variant} of ${twice.trial.kase.kase.id} would be recorded more than once; name one agent and one fault schedule with --variant`,
    );
  if (planned.length > AT_ONCE && !many)
    throw new CassetteError(
      `this would record ${planned.length} cassettes, and more than ${AT_ONCE} at once need a word for it: choose fewer with a narrower CASE, or add --yes`,
    );
  const folder = request.folder ?? cassetteFolder(suite);
  if (request.effects) for (const { trial, variant: name } of planned) await draftIn(folder, trial.kase.kase.id, name);
  return { suite, environment, planned, folder };
}

/** A cassette that was drafted from a trace. @throws {CassetteError} */
async function draftIn(folder: string, caseId: string, variant: string): Promise<Cassette> {
  const draft = (await readCassettes(folder, caseId)).find((one) => one.variant === variant);
  if (draft?.draft) return draft;
  const why = draft ? 'was recorded, and knows what its calls changed' : 'is not there';
  throw new CassetteError(`cassette ${variant} of ${caseId} ${why}; --effects is for those that "trialbed import traces" drafted`);
}

/** Runs the cases as real trials and writes what their tools answered. `run` launches a batch. */
export async function record(root: Root, request: RecordRequest, run: (request: RunRequest) => Promise<BatchHandle>): Promise<RecordReport> {
  const { suite, environment, planned, folder } = await planRecording(root, request);
  const { agents = ['reference'], faults = [NO_FAULTS.name], signal, onProgress, dryRun = false } = request;
  signal?.throwIfAborted();
  const handle = await run({
    suite: request.suite,
    cases: planned.map(({ trial }) => trial.kase.kase.id),
    ...{ agents, faults, trials: 1, keep: 'never', human: false },
    ...(request.concurrency !== undefined && { concurrency: request.concurrency }),
    ...(request.environmentOptions && { environmentOptions: request.environmentOptions }),
  });
  const stop = () => void handle.interrupt().catch(() => {});
  signal?.addEventListener('abort', stop, { once: true });
  try {
    let done = 0;
    for await (const event of handle.events()) if (event.type === 'trial') onProgress?.(++done, planned.length);
    await handle.result();
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  signal?.throwIfAborted();
  const rows = await root.store.trials(handle.id);
  const cassettes: RecordedCassette[] = [];
  for (const { trial, variant } of planned) {
    const { kase, schedule, agent } = trial;
    const names = { schedule: schedule?.schedule.name ?? NO_FAULTS.name, agent: agent.spec.name };
    const row = rows.find((one) => one.caseId === kase.kase.id && one.schedule === names.schedule && one.agentName === names.agent);
    const file = cassetteFile(folder, kase.kase.id, variant);
    const found = await recordOf(root, row);
    const { spec } = agent;
    const member = (name: string) => memberIn(spec, name, kase.kase);
    cassettes.push(
      found === null
        ? notRecorded(
            { case: kase.kase.id, variant, agent: names.agent, file },
            `its trial ended as ${row?.summary?.ending ?? 'nothing'}: ${row?.summary?.why ?? 'it has no record'}`,
          )
        : await recorded(
            {
              ...{ kase, variant, environment, ...names, ...found, memberPermission: member, rules: suite.cassettes ?? null },
              models: request.models && row ? await modelsOf(root, row, { spec, kase, environment }) : null,
            },
            { file, dryRun, draft: request.effects ? await draftIn(folder, kase.kase.id, variant) : null },
          ),
    );
  }
  return { type: 'recording', suite: suite.name, batch: handle.id, folder, dryRun, cassettes };
}

async function recorded(
  trial: TrialToRecord,
  { file, dryRun, draft }: { readonly file: string; readonly dryRun: boolean; readonly draft: Cassette | null },
): Promise<RecordedCassette> {
  const of = { case: trial.kase.kase.id, variant: trial.variant, agent: trial.agent, file };
  try {
    const { cassette: made, hidden } = cassetteOfTrial(trial);
    const cassette = draft === null ? made : withEffectsOf(draft, made);
    const change = await changeOf(file, cassette);
    if (!dryRun && change.state !== 'same') await writeCassette(file, cassette);
    return {
      ...of,
      state: change.state,
      why: null,
      interactions: cassette.interactions.length,
      differences: change.differences.slice(0, SHOWN_DIFFERENCES).map(differenceText),
      moreDifferences: Math.max(0, change.differences.length - SHOWN_DIFFERENCES),
      hidden,
      verdict: cassette.recorded.verdict,
      verdictChanges: change.differences.filter(({ path }) => path.startsWith('recorded.verdict')).map(differenceText),
    };
  } catch (error) {
    if (!(error instanceof NotRecordableError)) throw error;
    return notRecorded(of, error.message);
  }
}

function notRecorded(of: Pick<RecordedCassette, 'case' | 'variant' | 'agent' | 'file'>, why: string): RecordedCassette {
  return { ...of, state: 'not_recorded', why, interactions: 0, differences: [], moreDifferences: 0, hidden: {}, verdict: null, verdictChanges: [] };
}

/** Record and newest verdict of a trial, of the attempt that counts. */
async function recordOf({ store }: Pick<Root, 'store'>, row: TrialRow | undefined): Promise<Pick<TrialToRecord, 'record' | 'verdict'> | null> {
  if (!row?.summary) return null;
  const { attempt } = row.summary;
  const [record, verdicts] = await Promise.all([store.record(row.id, attempt), store.verdicts(row.id)]);
  const verdict = verdicts.findLast((one) => one.attempt === attempt);
  return record && verdict ? { record, verdict } : null;
}

function memberIn(spec: PlannedTrial['agent']['spec'], name: string, { permission }: Case) {
  const member = spec.kind === 'team' ? spec.members.find((one) => one.name === name) : undefined;
  return member ? memberPermission(member, permission) : null;
}

function variantOf({ agent, schedule }: PlannedTrial): string {
  return schedule === null ? agent.spec.name : `${agent.spec.name}.${schedule.schedule.name}`;
}

function sameFile(one: { readonly trial: PlannedTrial; readonly variant: string }, other: { readonly trial: PlannedTrial; readonly variant: string }): boolean {
  return one.variant === other.variant && one.trial.kase.kase.id === other.trial.kase.kase.id;
}
