import type { Judgement } from './verdict.ts';

/** What a reference says of a run; null where it says nothing. */
export interface ReferenceVerdict {
  /** The run ended without an error, and in the state that the task's solution reaches. */
  readonly correct: boolean | null;
  /** It changed something, and the state is not the one that the solution reaches. */
  readonly sideEffects: boolean | null;
  /** Its writes are those of the solution, as text. */
  readonly exact: boolean | null;
}

/** A part of a reference's verdict. */
export type ReferencePart = keyof ReferenceVerdict;

/** How a write was made a second time with equal arguments, after the first one had committed. */
export type Repeat =
  /** It had an effect of its own. */
  | 'duplicate'
  /** The tool told that it was done once more, and it changed nothing. */
  | 'silent_overwrite'
  /** The tool told something else than the first time, and it changed nothing. */
  | 'refused_repeat'
  /** Neither the first call nor this one changed anything. */
  | 'idle_repeat';

/** Why the product fails a run. */
export interface ProductFailure {
  /** Code of a finding, `ended_with_error`, or a {@link Repeat}. */
  readonly code: string;
  readonly message: string;
}

/** What became of the calls of a run. */
export interface CallCounts {
  readonly made: number;
  readonly committed: number;
  readonly failed: number;
  /** The text is no call. */
  readonly unreadable: number;
  readonly unknownTool: number;
  readonly invalidArguments: number;
  readonly denied: number;
}

/** A recorded run after its calls were made in a world and the result was graded. */
export interface GradedRun {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly model: string;
  /** Which tools the model was offered, as the file names them. */
  readonly tools: string;
  readonly domain: string;
  /** The task, as the file names it. */
  readonly task: string;
  /** Why the run ended early; empty when it did not. */
  readonly error: string;
  readonly calls: CallCounts;
  /** The reference's verdict as the file has it; null without. */
  readonly published: ReferenceVerdict | null;
  /** The same by the reference's rules, of what the calls did in our world. */
  readonly byRules: ReferenceVerdict;
  /** How the end state differs from that of the solution. */
  readonly differences: readonly string[];
  /** Texts that the task wants to be said to the user, and were not; absent where the format knows no such thing. */
  readonly unsaid?: readonly string[];
  /** The verdict of the product. */
  readonly product: { readonly pass: Judgement; readonly failures: readonly ProductFailure[] };
}
