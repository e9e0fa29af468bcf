import { newKey } from '../gateway/console/keys.ts';
import type { ConsoleRole } from '../store/console-keys.ts';
import type { Store } from '../store/store.ts';
import { NotFoundError } from './api.ts';

const DAY_MS = 24 * 3_600_000;

/** Who gets a token of the console. */
export interface ConsoleTokenRequest {
  /** Whom the audit log and the records of decisions name. */
  readonly holder: string;
  /** Everybody with a token sees everything, and `operator`, `approver` and `labeller` are rights beside; but `labeller` alone sees only what is to be labelled. */
  readonly roles: readonly ConsoleRole[];
  /** Default 90. */
  readonly days?: number;
}

/** A token that was just made. */
export interface MadeConsoleToken {
  readonly name: string;
  /** Told once: only a digest of it is stored. */
  readonly token: string;
  readonly holder: string;
  readonly roles: readonly ConsoleRole[];
  readonly expiresAt: string;
}

export async function addConsoleToken(
  store: Pick<Store, 'putConsoleKey'>,
  { holder, roles, days = 90 }: ConsoleTokenRequest,
  now: Date,
): Promise<MadeConsoleToken> {
  const { key: token, name, digest } = newKey();
  const blind = roles.length > 0 && roles.every((role) => role === 'labeller');
  const all: readonly ConsoleRole[] = blind ? roles : ['viewer', ...roles.filter((role) => role !== 'viewer')];
  const expiresAt = new Date(now.getTime() + days * DAY_MS).toISOString();
  await store.putConsoleKey({ name, digest, kind: 'token', holder, roles: [...new Set(all)], parent: null, expiresAt });
  return { name, token, holder, roles: [...new Set(all)], expiresAt };
}

/** Whoever is signed in with it is so no more. @throws {NotFoundError} */
export async function revokeConsoleToken(store: Pick<Store, 'consoleTokens' | 'endConsoleKey'>, name: string): Promise<void> {
  const valid = (await store.consoleTokens()).some((token) => token.name === name && token.state === 'valid');
  if (!valid || !(await store.endConsoleKey(name))) throw new NotFoundError(`there is no valid token ${name}; \`trialbed console token list\` lists them`);
}
