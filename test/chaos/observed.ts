import type { Json } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { Store } from '../../src/store/store.ts';

/** What a trial came to, without what differs between two runs that are alike: worlds' ids, real durations, and that it was disturbed. */
export interface Observed {
  readonly ending: string;
  readonly pass: string | null;
  readonly findings: Json;
  readonly operations: Json;
  readonly effects: Json;
  readonly messages: Json;
}

/** Of the attempt that counts. @throws when the trial has not one current verdict, of that attempt, and its record. */
export async function observed(store: Store, summary: TrialSummary): Promise<Observed> {
  const [attempts, verdicts, record] = await Promise.all([
    store.attempts(summary.trial),
    store.verdicts(summary.trial),
    store.record(summary.trial, summary.attempt),
  ]);
  const counting = attempts.filter((attempt) => attempt.counts);
  const current = verdicts.filter((verdict) => verdict.current);
  if (counting.length !== 1 || counting[0]?.attempt !== summary.attempt) throw new Error(`attempts of ${summary.trial}: ${JSON.stringify(attempts)}`);
  if (current.length !== 1 || current[0]?.attempt !== summary.attempt) throw new Error(`verdicts of ${summary.trial}: ${JSON.stringify(verdicts)}`);
  if (!record) throw new Error(`${summary.trial} has no record`);
  const world = counting[0].world?.id ?? '';
  const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value).replaceAll(world, 'WORLD')) as Json;
  return {
    ending: summary.ending,
    pass: current[0].pass,
    findings: plain(findingsOf(current[0])),
    operations: plain(record.operations.map(({ durationMs: _durationMs, disturbed: _disturbed, ...operation }) => operation)),
    effects: plain(record.effects),
    messages: plain(record.messages),
  };
}

function findingsOf(verdict: Verdict): readonly unknown[] {
  return [verdict.outcome, verdict.constraints, verdict.effects].map(({ judgement, findings }) => ({ judgement, findings }));
}
