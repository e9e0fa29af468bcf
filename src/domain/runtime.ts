import { ASK_TOOL } from './conversation/simulated-user.ts';

/**
 * How tools behave in production: what the agent meets in a trial, and no more help than that. Declared by a pack, stated in record and report.
 * Seconds are seconds of the world's clock.
 */
export interface ProductionRuntime {
  /** How long the production client waits for a reply. Default 30. */
  readonly timeoutSeconds: number;
  /** Tries that the production client makes by itself, beside the first, where a call ends with one of these codes. Null: none. */
  readonly retries: {
    readonly on: readonly string[];
    readonly attempts: number;
    readonly backoffSeconds: number;
    /** It waits as long as `Retry-After` says, rather than its own back-off. */
    readonly honoursRetryAfter: boolean;
  } | null;
  /** The wording of production; a text not named is ours. `{tool}` and `{seconds}` are filled in. */
  readonly words: RuntimeWords;
  /** Name of the tool by which the agent can look up an operation; null where production has none. */
  readonly lookup: string | null;
  /** Name of the tool by which the agent waits on the world's clock; null where production has none. */
  readonly wait: string | null;
  /** Name of the tool by which the agent asks the user; null where it can only answer. There only in cases with a simulated user. Absent in records of before there was one. */
  readonly ask?: string | null;
}

export interface RuntimeWords {
  readonly unknown?: string;
  readonly denied?: string;
  readonly rate_limited?: string;
  readonly unavailable?: string;
}

/** What holds where a pack declares nothing: no tries of its own, no look-up, no waiting. The user may be asked by `ask_user`. */
export const DEFAULT_RUNTIME: ProductionRuntime = { timeoutSeconds: 30, retries: null, words: {}, lookup: null, wait: null, ask: ASK_TOOL };
