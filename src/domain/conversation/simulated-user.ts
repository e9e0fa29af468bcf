import type { TextRule } from '../case.ts';
import type { ModelRoute } from '../model.ts';

/** Who speaks with the agent where a case has more than the messages that it writes down. */
export type SimulatedUser = ScriptedUser | ModelUser;

/** Answers by what is asked. */
export interface ScriptedUser {
  readonly user: 'script';
  /** All that a message of the agent meets answer it, in this order. */
  readonly rules: readonly UserRule[];
  /** What is done where no rule is met. */
  readonly otherwise: Otherwise;
}

/** A model that speaks from a brief, which is all that it is told of the case. */
export interface ModelUser {
  readonly user: 'model';
  readonly route: ModelRoute;
  /** Who they are, and how they speak. */
  readonly persona: string;
  /** What they want of the agent. */
  readonly wants: string;
  /** What they know and may tell at any time. */
  readonly facts: readonly string[];
  /** What they know and tell only when they are asked for it. */
  readonly ifAsked: readonly string[];
  /** Version of the words around the brief: with other words it is another user. */
  readonly words: number;
}

/** One thing that the user may be asked. Each condition that is named must hold. */
export interface UserRule {
  /** Any of these words or phrases, at their boundaries. */
  readonly topic?: readonly string[];
  readonly text?: TextRule;
  /** A regular expression, with flags `iu`. */
  readonly matches?: string;
  /** Said at the first time, the second, and so on; the last one from then on. Empty: nothing. */
  readonly say: readonly string[];
  /** How often it answers; absent: always. */
  readonly times?: number;
  /** The user leaves after it. */
  readonly end?: true;
}

export type Otherwise =
  | { readonly say: readonly string[]; readonly end?: true }
  /** The script is strict: the trial ends as `user_error`. */
  | { readonly fail: true };

/** Name of the tool by which the agent asks, where an environment declares no other. */
export const ASK_TOOL = 'ask_user';

/** Messages of the user in one trial, where a case says nothing of them. */
export const SIMULATED_TURNS = 20;
