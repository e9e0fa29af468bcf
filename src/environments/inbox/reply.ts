/** A reply other than success, as the library sends it. 421 ends the connection. */
export class SmtpReply extends Error {
  override readonly name = 'SmtpReply';
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}
