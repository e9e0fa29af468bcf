import type { PermissionContext } from '../domain/case.ts';
import type { Json } from '../domain/json.ts';
import type { ReferenceVerdict } from '../domain/recorded.ts';
import type { EnvironmentSource } from '../environments/world.ts';

/**
 * A way in which others write down runs. One file each; see {@link runFormat} for those that there are. A format may add fields of its own to the runs that it
 * reads: `judge` gets them back.
 */
export interface RunFormat {
  readonly name: string;
  /** The pack in whose worlds the calls are made. `data`: absolute path of the folder of the originals. */
  environment(data: string): EnvironmentSource;
  /** World time and permissions of every run. */
  readonly start: RunStart;
  /**
   * Reads a file.
   * @throws {RecordedRunsError} that lists what is wrong, with line numbers (or indexes).
   */
  read(file: string, request: ReadRequest): Promise<readonly RecordedRun[]>;
  /** The verdict by the reference's own rules. Gets facts only: nothing of a run's text is run. */
  judge(run: RecordedRun, facts: RunFacts): ReferenceVerdict;
}

export interface ReadRequest {
  /** Only so many of the first lines (or elements); null: all. */
  readonly limit: number | null;
  /** Absolute path of the folder of the originals. */
  readonly data: string;
  /** Who ran, where the file does not say it; null: the format's own default. */
  readonly model: string | null;
}

export interface RunStart {
  /** ISO 8601 with offset. */
  readonly clock: string;
  readonly timezone: string;
  readonly permission: PermissionContext;
}

export interface RecordedRun {
  /** Line of the file (of a list: element), from 1. */
  readonly line: number;
  readonly model: string;
  readonly tools: string;
  readonly domain: string;
  readonly task: string;
  readonly query: string;
  /** In the order made. */
  readonly calls: readonly RecordedCall[];
  /** The calls that solve the task. */
  readonly gold: readonly RecordedCall[];
  /** Why the run ended early; empty when it did not. */
  readonly error: string;
  /** Texts that the task wants to be said to the user, and were not. Absent where the format knows no such thing. */
  readonly unsaid?: readonly string[];
  /** The reference's verdict; null where the file has none. */
  readonly published: ReferenceVerdict | null;
}

export interface RecordedCall {
  /** As the file has it, as text. */
  readonly source: string;
  readonly tool: string;
  /** Arguments by name; where the text is no call, that text, which no tool takes. */
  readonly args: Json;
  /** Why the text is no call; null when it is one. */
  readonly unreadable: string | null;
}

/** What is known of a run once its calls were made. */
export interface RunFacts {
  /** The end state differs from the start, letter case counted. */
  readonly changed: boolean;
  /** The end state is that of the solution, compared as the tables declare it. */
  readonly sameAsGold: boolean;
  /** Names of tools that write. */
  readonly writeTools: ReadonlySet<string>;
}

/** The file is not what the format says. Lists the problems, each with its line; nothing was graded. */
export class RecordedRunsError extends Error {
  override readonly name = 'RecordedRunsError';
  readonly code = 'recorded_runs';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
