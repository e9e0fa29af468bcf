import { sqlState } from './connection.ts';

/** SQLSTATE classes of a server that went away, is just starting or stopping, or has no connection left. */
const AWAY = /^(08|57P0|53300)/;
const SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
/** What the client says of a connection that ended or never stood. */
const WORDS = /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error/i;

/** Why a server does not answer, in one line; null where it did, whatever it said. */
export function connectionLoss(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // An error of several addresses has its words in its parts.
  const said = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const code = (said as { code?: unknown }).code;
  const lost = AWAY.test(sqlState(said) ?? '') || (typeof code === 'string' && SYSTEM.has(code)) || WORDS.test(said.message);
  return lost ? said.message : null;
}
