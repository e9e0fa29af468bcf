import { ApplicationFailure } from '@temporalio/common';
import { totalsOf } from '../domain/model.ts';
import type { RecordedFaults, TrialRecord } from '../domain/record.ts';
import type { TrialModels, TrialSummary } from '../domain/trial.ts';
import { printable } from '../domain/text/bounded.ts';
import { type Diagnostics, firstFinding, type Verdict, whyOf } from '../domain/verdict.ts';
import type { Store, TrialRow } from '../store/store.ts';
import { type AttemptRef, FAILURE, type FinishRequest, type GradeResult } from './contract.ts';

const MAX_WHY_LENGTH = 2_000;

/** Ends an attempt in the store. From the store alone: the trial's environment may be what went wrong. `settled`: no other attempt follows. */
export async function finishAttempt(store: Store, request: FinishRequest, now: Date): Promise<{ readonly summary: TrialSummary; readonly settled: boolean }> {
  const trial = await store.trial(request.trial);
  if (!trial) throw ApplicationFailure.nonRetryable(`trial ${request.trial} is not in the store`, 'TrialMissing');
  const summary = {
    ...summaryOf((await gradedBefore(store, request)) ?? request, trial),
    ...(await modelsOf(store, request).catch(unlessKeyMissing(request))),
  };
  const settled = summary.ending !== 'infra_error' || !request.another;
  await store.finishAttempt(request.trial, request.attempt, summary, now.toISOString(), { settles: settled });
  return { summary, settled };
}

/** An attempt that ended because this worker lacks a key still has to say so. */
function unlessKeyMissing({ grade }: FinishRequest): (error: unknown) => Record<string, never> {
  return (error) => {
    if (grade === null && error instanceof Error && 'code' in error && error.code === 'key_missing') return {};
    throw error;
  };
}

/** What models used in an attempt, where any call was recorded. */
export async function modelsOf(store: Pick<Store, 'modelCalls'>, { trial, attempt }: AttemptRef): Promise<{ readonly models?: TrialModels }> {
  const calls = await store.modelCalls(trial, attempt);
  const by = (side: 'agent' | 'user') => totalsOf(calls.filter(({ who }) => who === side));
  return calls.length === 0 ? {} : { models: { agent: by('agent'), user: by('user') } };
}

/** What of a verdict and its record goes through history. */
export function gradeOf(verdict: Verdict, { operations, faults }: Pick<TrialRecord, 'operations' | 'faults'>): GradeResult {
  return {
    pass: verdict.pass,
    outcome: verdict.outcome.judgement,
    constraints: verdict.constraints.judgement,
    effects: verdict.effects.judgement,
    why: shortened(firstFinding(verdict)),
    ...(verdict.diagnostics.unfiredRules && {
      faults: {
        injected: verdict.diagnostics.injectedFaults ?? 0,
        unfired: verdict.diagnostics.unfiredRules.length,
        ...(faults && { fired: firedByRule(faults) }),
      },
    }),
    ...teamOf(verdict.diagnostics),
    toolMs: Math.round(operations.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0)),
  };
}

/** By the rule's place in the schedule. */
function firedByRule({ rules, injected }: RecordedFaults): readonly number[] {
  const counts = new Array<number>(rules.reduce((most, { index }) => Math.max(most, index + 1), 0)).fill(0);
  for (const { rule } of injected) if (rule >= 0) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
}

function teamOf({ callsByActor, handOversByActor = {}, repeatedHandOvers = 0 }: Diagnostics): Pick<GradeResult, 'team'> {
  return callsByActor ? { team: { calls: callsByActor, handOvers: handOversByActor, repeated: repeatedHandOvers } } : {};
}

/**
 * What an attempt came to whose world is gone because an earlier try had graded and released it: a worker that is killed then takes all local
 * steps since its last workflow task with it, and the next one repeats them without a world. Null when it was not graded.
 */
async function gradedBefore(store: Store, request: FinishRequest): Promise<FinishRequest | null> {
  if (request.problem?.code !== FAILURE.worldGone) return null;
  const { trial, attempt } = request;
  const [record, verdicts] = await Promise.all([store.record(trial, attempt), store.verdicts(trial)]);
  const verdict = verdicts.findLast((one) => one.attempt === attempt);
  if (!record || !verdict) return null;
  const id = snapshotId(request);
  return {
    ...request,
    ending: record.ending,
    grade: gradeOf(verdict, record),
    problem: record.problem,
    calls: record.operations.length,
    disturbed: record.operations.some((operation) => operation.disturbed),
    snapshot: (await store.snapshot(id)) ? id : null,
  };
}

/** The one snapshot of an attempt. */
export function snapshotId({ trial, attempt }: Pick<FinishRequest, 'trial' | 'attempt'>): string {
  return `${trial}.${attempt}`;
}

/** One sentence for a line of a table; the record has the rest. */
function shortened(why: string | null): string | null {
  return why === null ? null : printable(why, MAX_WHY_LENGTH);
}

function summaryOf(request: FinishRequest, trial: TrialRow): TrialSummary {
  const { grade: result } = request;
  return {
    type: 'trial',
    trial: trial.id,
    batch: trial.batch,
    case: trial.caseId,
    schedule: trial.schedule,
    agent: trial.agentName,
    repetition: trial.repetition,
    attempt: request.attempt,
    ending: request.ending,
    pass: result?.pass ?? null,
    outcome: result?.outcome ?? null,
    constraints: result?.constraints ?? null,
    effects: result?.effects ?? null,
    why: whyOf(request.ending, request.problem, result?.why ?? null),
    calls: request.calls,
    durationMs: request.durationMs,
    disturbed: request.disturbed,
    snapshot: request.snapshot,
    times: { agentMs: request.agentMs === undefined ? null : Math.round(request.agentMs), toolMs: result?.toolMs ?? null },
    ...(result?.faults && { faults: result.faults }),
    ...(result?.team && { team: result.team }),
    ...(result?.cassette && { cassette: result.cassette }),
  };
}
