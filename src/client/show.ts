import type { TrialRecord } from '../domain/record.ts';
import type { LateRequest, Store } from '../store/store.ts';
import { NotFoundError, type TrialView } from './api.ts';

/** Everything that is stored of a trial, with the attempt that counts; or with another one by its number. @throws {NotFoundError} */
export async function show(store: Store, id: string, wanted?: number): Promise<TrialView> {
  const trial = await store.trial(id);
  if (!trial) throw new NotFoundError(`there is no trial ${id}; \`trialbed ps BATCH\` lists a batch's trials`);
  const kase = await store.caseDocument(trial.caseHash);
  if (!kase) throw new NotFoundError(`the case of trial ${trial.id} is not in the store`);
  const attempts = await store.attempts(trial.id);
  const attempt = wanted ?? trial.attempt;
  if (wanted !== undefined && !attempts.some((one) => one.attempt === wanted)) throw noAttempt(trial.id, wanted, attempts.length);
  const [schedule, record, messages, verdicts, late, modelCalls, conversation, origin, judged] = await Promise.all([
    trial.scheduleHash === null ? null : store.scheduleDocument(trial.scheduleHash),
    store.record(trial.id, attempt),
    store.messages(trial.id, attempt),
    store.verdicts(trial.id),
    store.lateRequests(trial.id, attempt),
    store.modelCalls(trial.id, attempt),
    store.conversation(trial.id, attempt),
    store.origin(trial.id, Math.max(1, attempt)),
    store.judging.judgementsOf(trial.id, attempt),
  ]);
  // Most trials are judged by nobody.
  const series = judged.length === 0 ? [] : await store.judging.seriesOf(trial.batch);
  const judgements = judged.flatMap((judgement) => series.filter(({ id }) => id === judgement.series).map((own) => ({ series: own, judgement })));
  const said = { messages, modelCalls, conversation };
  const from = origin && { trial: origin.source.trial, attempt: origin.source.attempt, calls: origin.calls };
  return {
    trial,
    ...(from && { origin: from }),
    kase: kase.kase,
    schedule: schedule?.schedule ?? null,
    attempts,
    record,
    ...said,
    verdicts,
    lateRequests: afterRecord(late, record),
    ...(judgements.length > 0 && { judgements }),
  };
}

function noAttempt(trial: string, wanted: number, made: number): NotFoundError {
  const had = made === 0 ? 'none has begun' : made === 1 ? 'it had one' : `it had ${made}`;
  return new NotFoundError(`there is no attempt ${wanted} of trial ${trial}: ${had}`);
}

/** The record holds those of before, in the same order. */
function afterRecord(late: readonly LateRequest[], record: TrialRecord | null): readonly LateRequest[] {
  return late.slice(record?.lateAttempts.filter(({ source, operation }) => source === 'door' && operation === null).length ?? 0);
}
