import { createHash } from 'node:crypto';
import { FAILPOINTS } from '../../../src/worker/failpoints.ts';
import type { StormOptions } from './options.ts';

export type Failpoint = keyof typeof FAILPOINTS;

/** What is killed at random. The gateway lives in a worker: of those, one that a program is calling. */
export const TARGETS = ['worker of the command', 'worker of its own', 'gateway', 'command', 'temporal', 'postgres', 'supervisor'] as const;
export type Target = (typeof TARGETS)[number];

/** A kill at random. */
export interface Strike {
  readonly target: Target;
  /** Due once so many trials of the batch have ended, */
  readonly afterTrials: number;
  /** and so many milliseconds later. */
  readonly pauseMs: number;
}

/** A kill at a failpoint, of a worker that is started with it armed. */
export interface Armed {
  readonly name: Failpoint;
  readonly hit: number;
}

export interface StormPlan {
  readonly strikes: readonly Strike[];
  /** Armed one after the other, in every batch. */
  readonly usual: readonly Armed[];
  /** Passed only by batches of other kinds, so that all wait from the start. */
  readonly rare: readonly Armed[];
}

/** Passed by a batch with people's approvals, with models and simulated users, or with a database for each world. */
const RARE: readonly Failpoint[] = [
  'approval_requested_before_told',
  'approval_settled_before_dispatch',
  'model_replied_before_reported',
  'user_spoke_before_ledger',
  'server_serves_before_call',
  'server_answered_before_ledger',
  'database_made_before_leased',
  'world_dropped_before_forgotten',
];
/** Needs an engine that runs containers. */
const CONTAINER: Failpoint = 'container_started_before_registered';

/** A pure function of the options: the same seed strikes at the same places in the same order. Where there are kills for it, every failpoint has one. */
export function planStorm({ seed, trials, kills }: Pick<StormOptions, 'seed' | 'trials' | 'kills'>): StormPlan {
  const draw = drawing(seed);
  const names = (Object.keys(FAILPOINTS) as Failpoint[]).filter((name) => name !== CONTAINER);
  const usual = shuffled(
    names.filter((name) => !RARE.includes(name)),
    draw,
  );
  const all = kills >= names.length + TARGETS.length;
  const atFailpoints = all ? names.length : Math.min(usual.length, Math.floor(kills / 3));
  const random = kills - atFailpoints;
  const targets: Target[] = [];
  while (targets.length < random) targets.push(...shuffled(TARGETS, draw));
  const strikes = targets.slice(0, random).map((target, n) => ({
    target,
    afterTrials: Math.floor(((n + draw()) / random) * trials * 0.85),
    pauseMs: Math.floor(draw() * 1_500),
  }));
  const armed = (name: Failpoint): Armed => ({ name, hit: 1 + Math.floor(draw() * Math.min(8, trials / 10)) });
  return {
    strikes,
    usual: (all ? usual : usual.slice(0, atFailpoints)).map(armed),
    rare: all ? RARE.map((name) => ({ name, hit: 1 })) : [],
  };
}

function shuffled<T>(items: readonly T[], draw: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Numbers from 0 up to 1, always the same of a seed. */
function drawing(seed: string): () => number {
  let drawn = 0;
  return () => createHash('sha256').update(`${seed} ${drawn++}`).digest().readUIntBE(0, 6) / 2 ** 48;
}
