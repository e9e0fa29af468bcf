import { createHash } from 'node:crypto';

/** A call as a client asks for it. */
export interface CallRequest {
  readonly tool: string;
  readonly args: unknown;
  readonly idempotencyKey: string | null;
  /** The client's own name for this request; the same one again is the same call, and never another. Null: none was given. */
  readonly callId: string | null;
}

/** What may be the name of a call, in words. */
export const CALL_ID_FORM = 'A call id has 1 to 200 letters, digits and ._:- of ASCII.';

export function isCallId(text: unknown): text is string {
  return typeof text === 'string' && /^[\w.:-]{1,200}$/.test(text);
}

/** Tells a repeated request from another one of the same name: sha256 in hex. */
export function digestOfCall({ tool, args, idempotencyKey }: CallRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, args ?? null, idempotencyKey]))
    .digest('hex');
}
