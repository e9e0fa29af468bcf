import type { AgentSpec } from '../domain/agent.ts';
import type { Case } from '../domain/case.ts';
import type { ConfirmAbove } from '../domain/confirmation.ts';
import type { FaultSchedule } from '../domain/fault.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Money } from '../domain/model.ts';
import type { SuiteCassettes } from './cassette-schema.ts';
import type { LoadedRubric } from './rubric-file.ts';
import { shownPath } from '../environments/shown-path.ts';

/** A suite as read from its folder: `suite.yaml` and `cases/*.yaml`. */
export interface Suite {
  readonly name: string;
  readonly title: string;
  /** Absolute path of `suite.yaml`. */
  readonly file: string;
  readonly environment: { readonly file: string; readonly options: JsonObject };
  readonly cases: readonly LoadedCase[];
  /** Fault schedules of the suite's `faults/` folder by name, sorted. `none`, the one without rules, is not among them. */
  readonly schedules: { readonly [name: string]: LoadedSchedule };
  /** Rubrics of the suite's `rubrics/` folder by name, sorted. */
  readonly rubrics: { readonly [name: string]: LoadedRubric };
  /** Agents of the suite's `agents/` folder by name, beside the built-in `reference` and `do-nothing`. */
  readonly agents: { readonly [name: string]: string };
  readonly defaults: {
    readonly trials: number;
    readonly agents: readonly string[];
    readonly faults: readonly string[];
    /** As they are written. Absent: every scored trial passes. */
    readonly gates?: readonly string[];
    readonly maxCost?: Money;
    readonly confirmAbove?: ConfirmAbove;
    readonly addresses?: 'keep' | 'mask';
    readonly unverified?: 'count' | 'refuse';
  };
  /** How its cassettes are recorded and compared. Absent: nothing is said. */
  readonly cassettes?: SuiteCassettes;
}

export interface LoadedCase {
  readonly kase: Case;
  readonly file: string;
  /** sha256 of the canonical JSON of the case. */
  readonly hash: string;
  /** Line of each path (`expect.outcomes[0]`), so that a message can name the line to fix. */
  readonly lineOf: (path: string) => number | null;
}

export interface LoadedSchedule {
  readonly schedule: FaultSchedule;
  readonly file: string;
  /** sha256 of the canonical JSON of the schedule. */
  readonly hash: string;
  /** Line of each path (`faults[0].where`), so that a message can name the line to fix. */
  readonly lineOf: (path: string) => number | null;
}

export interface LoadedAgent {
  readonly spec: AgentSpec;
  readonly hash: string;
}

/** One thing wrong with a file that people write. */
export interface FileProblem {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** What is wrong and what was expected. */
  readonly message: string;
  /** The nearest known name, where the problem is an unknown one. */
  readonly suggestion: string | null;
}

/** A suite, case or agent file is not valid. Lists every problem found, not only the first. */
export class SuiteFileError extends Error {
  override readonly name = 'SuiteFileError';
  readonly code = 'suite_file';
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    super(problems.map(lineOf).join('\n'));
    this.problems = problems;
  }
}

/** A problem of a file that could not be read at all has no place in it. */
function lineOf({ file, line, column, message, suggestion }: FileProblem): string {
  const place = line === null ? '' : `:${line}:${column ?? 1}`;
  return `${shownPath(file)}${place}: ${message}${suggestion === null ? '' : ` (did you mean "${suggestion}"?)`}`;
}
