/** The console cannot be served at the address that was asked for. */
export class ConsoleAddressError extends Error {
  override readonly name = 'ConsoleAddressError';
  readonly code = 'console_address';
}
