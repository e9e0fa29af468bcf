/**
 * A call of a model got no reply.
 *
 * `passing`: the provider was limited, broken or silent; the same call may go through later. `refused`: the provider will not take this request, whoever sends it
 * again, such as a conversation that is too long. `setup`: key, address or model are wrong, which nobody's other request mends.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: string;
  readonly kind: 'passing' | 'refused' | 'setup';
  /** When the provider wants to be asked again, milliseconds from now; null: it does not say. */
  readonly retryAfterMs: number | null;
  /** HTTP status; null where there was none. */
  readonly status: number | null;

  constructor(
    kind: ModelError['kind'],
    code: string,
    message: string,
    { retryAfterMs = null, status = null }: { readonly retryAfterMs?: number | null; readonly status?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}
