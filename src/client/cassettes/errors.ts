/** Cassettes cannot be recorded or played as asked; the message says what to do. */
export class CassetteError extends Error {
  override readonly name = 'CassetteError';
  readonly code = 'cassette';
}
