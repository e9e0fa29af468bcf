import { CommanderError } from 'commander';
import { SuiteFileError } from '../suite/suite.ts';

/** How a command ends. Documented in `trialbed --help`. */
export const EXIT = {
  /** Done; for `run` and `validate`: the gate was met. */
  ok: 0,
  /** Done, and the gate was not met. */
  gateNotMet: 1,
  /** The command line, a suite, a case, an agent or the configuration is not valid; nothing has this name. */
  usage: 2,
  /** The test bed could not do its work: a service is missing, a database was lost, an error of its own. */
  infrastructure: 3,
  /** 128 plus the number of the signal, as shells have it. */
  interrupted: 130,
  terminated: 143,
} as const;

/** The command line asks for something that cannot be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}

/** A signal ended the command; what it held was let go of in order. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly code = 'interrupted';
  readonly exit: number;

  constructor(exit: number) {
    super('interrupted');
    this.exit = exit;
  }
}

/** What the top-level handler prints, and with which code the process ends. */
export interface Failure {
  readonly exit: number;
  /** Stable, for programs. */
  readonly code: string;
  /** For people; may have several lines. Not yet made safe for a terminal. */
  readonly message: string;
  /** An error of a kind that nobody foresaw: its stack is worth keeping. */
  readonly unexpected: boolean;
}

/** Maps any thrown value to what is printed and the code of the process. By `code`, so that errors of another copy of the package count too. */
export function failureOf(thrown: unknown): Failure {
  const error = rootError(thrown);
  if (error instanceof CommanderError) {
    return { exit: error.exitCode === 0 ? EXIT.ok : EXIT.usage, code: 'usage', message: error.message.replace(/^error: /, ''), unexpected: false };
  }
  if (error instanceof InterruptedError) return { exit: error.exit, code: error.code, message: error.message, unexpected: false };
  if (error instanceof AggregateError && error.errors.length > 0) return aggregateFailure(error);
  if (!(error instanceof Error)) return { exit: EXIT.infrastructure, code: 'unexpected', message: String(error), unexpected: true };
  const code = codeOf(error);
  if (code === null) return { exit: EXIT.infrastructure, code: 'unexpected', message: error.message || error.name, unexpected: true };
  if (error instanceof SuiteFileError) return { exit: EXIT.usage, code, message: suiteFileMessage(error), unexpected: false };
  return { exit: USAGE_CODES.has(code) ? EXIT.usage : EXIT.infrastructure, code, message: error.message || `${error.name} (${code})`, unexpected: false };
}

/** Codes of errors that the person at the command line can mend there. Every other code is infrastructure. */
const USAGE_CODES: ReadonlySet<string> = new Set([
  'usage',
  'config',
  'not_found',
  'gate_syntax',
  'trial_runs',
  'snapshot',
  'restore',
  'no_key',
  'purge',
  'key_missing',
  'key_wrong',
  'point_refused',
  'confirmation_needed',
  'not_confirmed',
  'decision_refused',
  'control_refused',
  'comparison_refused',
  'console_address',
  'night_request',
  'label_refused',
  'nothing_to_run',
  'judge_refused',
  'judge_setup',
  'agent_access',
  'cassette',
  'suite_file',
  'environment_definition',
  'environment_load',
  'world_build',
  'tool_server',
  'tool_schema',
  'store_conflict',
  'init_conflict',
  'init_folder',
  'retail_data',
  'workbench_data',
  'scan',
  'recorded_runs',
  'history_file',
]);

/** The error that started it, where ending a resource failed as well. */
function rootError(thrown: unknown): unknown {
  let error = thrown;
  while (error instanceof SuppressedError) error = error.suppressed;
  return error;
}

/** Several errors of one cause, such as a connection refused on IPv4 and IPv6. */
function aggregateFailure(error: AggregateError): Failure {
  const failures = error.errors.map(failureOf);
  const worst = failures.reduce((a, b) => (b.exit > a.exit ? b : a));
  const messages = [...new Set(failures.map((f) => f.message))];
  return { ...worst, message: [error.message, ...messages].filter((m) => m !== '').join('\n') };
}

function codeOf(error: Error): string | null {
  const code: unknown = (error as { code?: unknown }).code;
  if (typeof code !== 'string' || code === '') return null;
  // Codes of Node's own errors (a wrong call of its API, a module that is not there) are faults of the program, not conditions that it foresaw.
  return code.startsWith('ERR_') ? null : code;
}

function suiteFileMessage(error: SuiteFileError): string {
  const count = error.problems.length;
  return count > 1 ? `${count} problems in files:\n${error.message}` : error.message;
}
