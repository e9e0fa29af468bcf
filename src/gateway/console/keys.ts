import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ConsoleKey } from '../../store/console-keys.ts';

/** A new key: what its holder gets, and what is stored of it. */
export interface NewKey {
  /** `<name>.<secret>`. */
  readonly key: string;
  readonly name: string;
  /** sha256 of the secret, in hex. */
  readonly digest: string;
}

/** The part of the store that knows keys. */
export interface KeyStore {
  consoleKey(name: string): Promise<ConsoleKey | null>;
  putConsoleKey(key: ConsoleKey): Promise<void>;
  endConsoleKey(name: string): Promise<boolean>;
}

export function newKey(): NewKey {
  const name = randomBytes(9).toString('base64url');
  const secret = randomBytes(32).toString('base64url');
  return { key: `${name}.${secret}`, name, digest: digestOf(secret).toString('hex') };
}

/** The key that a text is, where it is one that is valid now and of this kind. Secrets are compared in constant time. @throws what the store threw */
export async function findKey(store: Pick<KeyStore, 'consoleKey'>, text: string, kind: ConsoleKey['kind']): Promise<ConsoleKey | null> {
  const [, name = '', secret = ''] = /^([\w-]{1,40})\.([\w-]{1,100})$/.exec(text.trim()) ?? [];
  if (name === '') return null;
  const stored = await store.consoleKey(name);
  const same = timingSafeEqual(digestOf(secret), stored ? Buffer.from(stored.digest, 'hex') : NOBODY);
  return same && stored?.kind === kind ? stored : null;
}

/** What a form must bring along to show that it came from a page of ours: whoever does not know the cookie cannot make it. */
export function formToken(cookie: string): string {
  return createHmac('sha256', cookie).update('trialbed console form').digest('base64url');
}

/** In constant time. */
export function isFormToken(cookie: string, given: unknown): boolean {
  const expected = digestOf(formToken(cookie));
  return typeof given === 'string' && timingSafeEqual(digestOf(given), expected);
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compared with where there is no such name, so that it takes as long. */
const NOBODY = randomBytes(32);
