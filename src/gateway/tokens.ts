import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TrialSession } from './session.ts';

/** Sessions that have ended and are still known by their token, so that what comes late is told to the world that it was for. */
const KEPT = 1_000;

interface Entry {
  readonly session: TrialSession;
  readonly digest: Buffer;
}

/** Bearer tokens of sessions: `<name>.<secret>`, both random. Only a digest of the secret is kept. */
export class Tokens {
  private readonly entries = new Map<string, Entry>();
  private readonly ended: string[] = [];

  /** A new token for a session. */
  issue(session: TrialSession): string {
    const name = randomBytes(9).toString('base64url');
    const secret = randomBytes(32).toString('base64url');
    this.entries.set(name, { session, digest: digestOf(secret) });
    return `${name}.${secret}`;
  }

  /** Whose token it is; null for one that was never issued, or that ended long ago. Compared in constant time. */
  find(token: string): TrialSession | null {
    const [, name = '', secret = ''] = /^([\w-]{1,40})\.([\w-]{1,100})$/.exec(token) ?? [];
    const entry = this.entries.get(name);
    const same = timingSafeEqual(digestOf(secret), entry?.digest ?? NOBODY);
    return entry && same ? entry.session : null;
  }

  /** The token's session has ended: it opens nothing, and is known for a while. */
  end(token: string): void {
    this.ended.push(token.split('.', 1)[0] ?? '');
    if (this.ended.length > KEPT) this.entries.delete(this.ended.shift() ?? '');
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compared with where there is no such name, so that it takes as long. */
const NOBODY = randomBytes(32);
