import type { ReplayedRoute } from './cassette.ts';
import type { Json } from './json.ts';
import type { KnownState } from './operation.ts';
import { printable } from './text/bounded.ts';

export type Judgement = 'pass' | 'fail' | 'undetermined';

/** How a trial ended. Only `infra_error` and `cancelled` leave it without a verdict. */
export type Ending = 'completed' | 'agent_timeout' | 'budget_exhausted' | 'agent_error' | 'user_error' | 'cassette_miss' | 'cancelled' | 'infra_error';

/** One finding with its evidence, as a person reads it. */
export interface Finding {
  /** Stable: `missing_effect`, `wrong_value`, `duplicate_effect`, `forbidden_effect`, `false_claim`, `missing_claim`, `undetermined_claim`, `constraint_violated`, `repeated_write`, `reverted_effect`, ... */
  readonly code: string;
  readonly judgement: Judgement;
  /** The rule of the case that this is about, for example `outcomes[0].effects[1]`. */
  readonly rule: string;
  /** One sentence: which row, which mail, which rule. */
  readonly message: string;
  readonly expected?: Json;
  readonly found?: Json;
  /** Operations concerned, by id. */
  readonly operations?: readonly string[];
}

export interface View {
  readonly judgement: Judgement;
  readonly findings: readonly Finding[];
}

/** Never part of the verdict. */
export interface Diagnostics {
  readonly calls: number;
  readonly callsByTool: { readonly [tool: string]: number };
  readonly rejectedCalls: number;
  readonly unknownTools: number;
  readonly invalidArguments: number;
  readonly deniedCalls: number;
  readonly repeatedCalls: number;
  readonly emptyRetrievals: number;
  readonly noOpWrites: number;
  readonly unattributedEffects: number;
  /** Of operations that are none of the trial's. Absent: none. */
  readonly foreignEffects?: number;
  readonly lateAttempts: number;
  readonly disturbed: boolean;
  /** Calls by member of a team; absent where the agent is no team. */
  readonly callsByActor?: { readonly [member: string]: number };
  /** Times that one member gave the conversation to another; absent where the agent is no team. */
  readonly handOvers?: number;
  /** Those of them from and to whom there had been one before. */
  readonly repeatedHandOvers?: number;
  /** Hand-overs by the member that gave the conversation away; absent where the agent is no team. */
  readonly handOversByActor?: { readonly [member: string]: number };
  /** Faults that were injected. */
  readonly injectedFaults?: number;
  /** Rules of the schedule that hit nothing: they tested nothing. Places in the schedule, from 0. */
  readonly unfiredRules?: readonly number[];
}

/** How the agent went on after a write of unknown outcome. */
export interface RecoveryNote {
  readonly operation: string;
  readonly tool: string;
  /** Whether it had its effect. */
  readonly known: KnownState;
  /** Later calls that did the same again. */
  readonly repeats: readonly string[];
  /** A read between it and its first repeat (`before_repeat`), none there (`not_before_repeat`); without a repeat, one after it (`later`) or none (`never`). */
  readonly looked: 'before_repeat' | 'not_before_repeat' | 'later' | 'never';
  /** How often the effect is there in the end: of this operation and its repeats, those that committed. */
  readonly committed: number;
  /** The agent could know in the end how it had ended. */
  readonly learned: boolean;
}

export interface Verdict {
  readonly pass: Judgement;
  readonly outcome: View;
  readonly constraints: View;
  readonly effects: View;
  /** Name of the accepted end state that was reached. */
  readonly reached: string | null;
  readonly diagnostics: Diagnostics;
  /** Absent in verdicts of before there were fault schedules. */
  readonly recovery?: readonly RecoveryNote[];
  /** It was played on a cassette: `outcome` and `effects` are judged by recorded effects. Absent: by observed ones. */
  readonly replayed?: ReplayedRoute;
  readonly graderVersion: string;
  /** Hash of the case that it was graded by. */
  readonly caseHash: string;
}

/**
 * Why a trial came to what it did, in a sentence: how it ended first, where it did not end by an answer, in the words of whoever ended it; then what failed. Null when it
 * was completed and all passed. Bounded; not escaped for any terminal or page.
 */
export function whyOf(ending: Ending, problem: { readonly message: string } | null, finding: string | null): string | null {
  const parts = [ENDED[ending], problem === null ? null : firstLine(problem.message)].filter((part) => part !== null);
  const ended = parts.length === 0 || ending === 'completed' ? null : parts.join(': ');
  const why = [ended, finding].filter((part) => part !== null);
  return why.length === 0 ? null : printable(why.join(ended?.endsWith('.') ? ' ' : '; '), MAX_WHY_LENGTH);
}

const MAX_WHY_LENGTH = 2_000;
const MAX_PROBLEM_LENGTH = 400;

/** Endings in words. Trouble of the test bed speaks for itself. */
const ENDED: { readonly [ending in Ending]: string | null } = {
  completed: null,
  agent_error: 'the agent failed',
  agent_timeout: 'the agent ran out of time',
  budget_exhausted: 'the agent ran out of calls',
  user_error: 'the simulated user failed',
  cassette_miss: 'the recording holds no such reply',
  cancelled: 'cancelled',
  infra_error: null,
};

/** A message may carry a stack. */
function firstLine(message: string): string {
  return printable(
    message
      .trim()
      .split(/\r\n|[\n\r\u2028\u2029]/u, 1)
      .join(''),
    MAX_PROBLEM_LENGTH,
  );
}

/** The first finding that is not a pass, as one sentence: a failure before what could not be determined. Null when all pass. */
export function firstFinding(verdict: Verdict): string | null {
  const findings = [verdict.outcome, verdict.constraints, verdict.effects].flatMap((view) => view.findings);
  const finding = findings.find((one) => one.judgement === 'fail') ?? findings.find((one) => one.judgement === 'undetermined');
  return finding?.message ?? null;
}
