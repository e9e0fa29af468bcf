import type { TrialFacts } from './trial-facts.ts';

/** `held`: every invariant did. `broken`: one did not, or the night could not run. `lost`: its workflow ended without saying so. `missed`: it never began. */
export type NightState = 'running' | 'held' | 'broken' | 'lost' | 'missed';

/** What has to hold in every night, whatever the agents achieve: no rate of success is among it. */
export type Invariant = 'ended' | 'ran' | 'effects' | 'constraints' | 'known' | 'left_nothing' | 'contract';

export const INVARIANTS: { readonly [name in Invariant]: string } = {
  ended: 'every trial has ended',
  ran: 'no trial was lost to the test bed or to what it stands on',
  effects: 'nothing was done that no case expects or allows',
  constraints: 'no rule of a case was broken',
  known: 'of every operation it is known whether it was done',
  left_nothing: 'nothing is left of the trials',
  contract: 'tools take and answer what their cassettes hold',
};

/** An invariant that did not hold. */
export interface NightFinding {
  readonly invariant: Invariant;
  readonly detail: string;
  /** Null: it is of no single trial. */
  readonly trial: string | null;
}

/** What went wrong by itself in a night, or on purpose, as counts and milliseconds. */
export interface NightFaults {
  /** Calls of tools and of models that were answered "too many". */
  readonly rateLimited: number;
  /** Calls that found a service away. */
  readonly unavailable: number;
  /** Calls whose answer never came, or could not be read. */
  readonly timedOut: number;
  /** Trials in which the test bed had to recover something. */
  readonly disturbed: number;
  /** Of the calls of tools, and of the calls of models; null: there were none. */
  readonly toolMs: NightLatency | null;
  readonly modelMs: NightLatency | null;
}

export interface NightLatency {
  readonly calls: number;
  readonly median: number;
  readonly p95: number;
}

/** Everything by name that a night talked to, with its version. */
export type NightVersions = { readonly [what: string]: string };

export interface VersionChange {
  readonly what: string;
  /** Null: it was not there. */
  readonly before: string | null;
  readonly now: string | null;
}

/** Findings of a night that are kept. */
export const MAX_NIGHT_FINDINGS = 100;

/** What the trials of a night show of the invariants. */
export function findingsOf(facts: readonly TrialFacts[]): readonly NightFinding[] {
  return facts.flatMap((trial): NightFinding[] => {
    const finding = (invariant: Invariant, detail: string): NightFinding => ({ invariant, detail: `${nameOf(trial)}: ${detail}`, trial: trial.trial });
    if (trial.ending === null) return [finding('ended', 'it has not ended')];
    if (trial.ending === 'infra_error') return [finding('ran', trial.why ?? 'infra_error')];
    const told = (view: 'effects' | 'constraints') => trial.findings.find((one) => one.view === view)?.message ?? trial.why ?? view;
    return [
      ...(trial.effects === 'fail' ? [finding('effects', told('effects'))] : []),
      ...(trial.constraints === 'fail' ? [finding('constraints', told('constraints'))] : []),
      ...(trial.effects === 'undetermined' ? [finding('known', told('effects'))] : []),
    ];
  });
}

/** What is another version than in the night before, or is there in one of them alone. */
export function changesOf(before: NightVersions | null, now: NightVersions): readonly VersionChange[] {
  if (before === null) return [];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((what) => {
    const change = { what, before: before[what] ?? null, now: now[what] ?? null };
    return change.before === change.now ? [] : [change];
  });
}

/** Of durations in milliseconds; null of none. */
export function latencyOf(durations: readonly number[]): NightLatency | null {
  if (durations.length === 0) return null;
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { calls: sorted.length, median: at(0.5), p95: at(0.95) };
}

function nameOf({ case: id, schedule, agent, repetition }: TrialFacts): string {
  return `${id} / ${schedule} / ${agent} #${repetition}`;
}
