import type { TrialPhase } from '../domain/trial.ts';

/** Phases in the order in which a list shows them: what is going on first. */
export const TRIAL_PHASES: readonly TrialPhase[] = ['provision', 'drive', 'fence', 'grade', 'release', 'waiting', 'done'];
