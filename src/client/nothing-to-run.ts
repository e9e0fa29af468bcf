/** Nothing is left to run; the message says which choice left nothing. */
export class NothingToRunError extends Error {
  override readonly name = 'NothingToRunError';
  readonly code = 'nothing_to_run';
}
