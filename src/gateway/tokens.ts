import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TrialSession } from './session.ts';

/** Sessions that have ended and are still known by their token, so that what comes late is told to the world that it was for. */
const KEPT = 1_000;

/** Whose session it is. */
export interface SessionPlace {
  readonly trial: string;
  readonly attempt: number;
  readonly agent: string;
}

/** A token as it is stored: the secret itself has only its holder. */
export interface StoredToken extends SessionPlace {
  readonly name: string;
  /** sha256 of the secret, in hex. */
  readonly digest: string;
  /** Base URL of the gateway that has the session; null: it is told to nobody. */
  readonly place: string | null;
}

/** Where tokens outlive the worker that issued them. Its part of the control plane's store. */
export interface TokenStore {
  putGatewayToken(token: StoredToken): Promise<void>;
  gatewayToken(name: string): Promise<(StoredToken & { readonly ended: boolean }) | null>;
  gatewayTokenOf(place: SessionPlace): Promise<StoredToken | null>;
  moveGatewayToken(name: string, place: string | null): Promise<void>;
  endGatewayToken(name: string): Promise<void>;
}

/** What a token opens: a session of this process; nothing any more; a session that another worker holds or will hold; nothing. */
export type Found =
  | { readonly kind: 'session'; readonly session: TrialSession }
  | { readonly kind: 'ended'; readonly place: SessionPlace }
  | { readonly kind: 'away'; readonly place: string | null }
  | { readonly kind: 'nobody' };

interface Entry {
  readonly session: TrialSession;
  readonly digest: Buffer;
}

/** Bearer tokens of sessions: `<name>.<secret>`, both random. Only a digest of the secret is kept, here and in the store. */
export class Tokens {
  private readonly store: TokenStore;
  private readonly here: string | null;
  private readonly entries = new Map<string, Entry>();
  private readonly ended: string[] = [];

  /** `here`: base URL by which other workers reach this gateway. */
  constructor(store: TokenStore, here: string | null) {
    this.store = store;
    this.here = here;
  }

  /** A new token for a session. @throws what the store threw */
  async issue(session: TrialSession, place: SessionPlace): Promise<{ readonly name: string; readonly token: string }> {
    const name = randomBytes(9).toString('base64url');
    const secret = randomBytes(32).toString('base64url');
    const digest = digestOf(secret);
    await this.store.putGatewayToken({ ...place, name, digest: digest.toString('hex'), place: this.here });
    this.entries.set(name, { session, digest });
    return { name, token: `${name}.${secret}` };
  }

  /** The token that the agent got from a worker before this one opens the session; its name, or null where there is none. @throws what the store threw */
  async resume(session: TrialSession, place: SessionPlace): Promise<string | null> {
    const stored = await this.store.gatewayTokenOf(place);
    if (!stored) return null;
    this.entries.set(stored.name, { session, digest: Buffer.from(stored.digest, 'hex') });
    await this.store.moveGatewayToken(stored.name, this.here);
    return stored.name;
  }

  /** What it opens. Secrets are compared in constant time. @throws what the store threw */
  async find(token: string): Promise<Found> {
    const [, name = '', secret = ''] = /^([\w-]{1,40})\.([\w-]{1,100})$/.exec(token) ?? [];
    if (name === '') return { kind: 'nobody' };
    const given = digestOf(secret);
    const entry = this.entries.get(name);
    if (entry) return timingSafeEqual(given, entry.digest) ? { kind: 'session', session: entry.session } : { kind: 'nobody' };
    const stored = await this.store.gatewayToken(name);
    const same = timingSafeEqual(given, stored ? Buffer.from(stored.digest, 'hex') : NOBODY);
    if (!stored || !same) return { kind: 'nobody' };
    if (stored.ended) return { kind: 'ended', place: stored };
    return { kind: 'away', place: stored.place === this.here ? null : stored.place };
  }

  /** The token's session has ended: it opens nothing, and is known for a while. @throws what the store threw */
  async end(name: string): Promise<void> {
    this.ended.push(name);
    if (this.ended.length > KEPT) this.entries.delete(this.ended.shift() ?? '');
    await this.store.endGatewayToken(name);
  }

  /** Another worker will have the session. */
  forget(name: string): void {
    this.entries.delete(name);
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compared with where there is no such name, so that it takes as long. */
const NOBODY = randomBytes(32);
