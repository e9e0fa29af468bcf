import { printable } from '../domain/text/bounded.ts';

/** A real service is bound by the name of a variable, and this worker has none of that name. Nothing was sent. */
export class LiveVariableMissingError extends Error {
  override readonly name = 'LiveVariableMissingError';
  readonly code = 'live_variable_missing';
  readonly variable: string;

  constructor(service: string, variable: string) {
    super(`the environment's ${service} are at a real service, and the variable ${variable} is not set where the worker runs; set it there and run again`);
    this.variable = variable;
  }
}

/** A real service answered what this version cannot work with, or refused what it needs to make a world. */
export class LiveServiceError extends Error {
  override readonly name = 'LiveServiceError';
  readonly code = 'live_service';

  constructor(what: string, answer: string) {
    super(`${what}: ${answer}; look at the account that the secret is of, and at docs/how-to/live.md for what it must be allowed to do`);
  }
}

/** No connection to a real service came to stand: nothing was sent. The cause says why. */
export class LiveUnreachableError extends Error {
  override readonly name = 'LiveUnreachableError';
  readonly code = 'live_unreachable';

  constructor(what: string, cause: unknown) {
    super(`${what} was not sent: there is no connection (${reasonOf(cause)})`, { cause });
  }
}

/** A real service gave no answer that could be read: what it was asked may have been done, and may still be. */
export class LiveOutcomeUnknownError extends Error {
  override readonly name = 'LiveOutcomeUnknownError';
  readonly code = 'ticket_outcome_unknown';

  constructor(what: string, cause: unknown) {
    super(`no usable answer to ${what} (${reasonOf(cause)}); whether it was done is seen at the service alone`, { cause });
  }
}

/** A real service does not answer what is asked of it for the sake of a world, which may be asked again. */
export class LiveAwayError extends Error {
  override readonly name = 'LiveAwayError';
  readonly code = 'live_away';

  constructor(cause: Error) {
    super(`a real service does not answer: ${cause.message}`, { cause });
  }
}

/** Runs what can be asked again. @throws {LiveAwayError} where the service does not answer */
export async function repeatable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LiveOutcomeUnknownError || error instanceof LiveUnreachableError ? new LiveAwayError(error) : error;
  }
}

/** Something was asked of a world with real services that only fixtures can do. */
export class NotLiveError extends Error {
  override readonly name = 'NotLiveError';
  readonly code = 'not_live';

  constructor(what: string) {
    super(`${what} needs a world whose services are all fixtures, and this one has accounts at real services, which cannot be set back`);
  }
}

/** The innermost words: those around them say only that a request failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return printable(String(error), 200);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return printable(error.message || String((error as { code?: unknown }).code ?? error.name), 200);
}
