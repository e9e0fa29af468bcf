import type { Actor } from '../../store/audit.ts';
import type { ConsoleKey, ConsoleRole } from '../../store/console-keys.ts';
import { findKey, type KeyStore, newKey } from './keys.ts';

/** How long somebody stays signed in. */
const SESSION_MS = 12 * 3_600_000;
/** How long a link signs in. */
const LINK_MS = 10 * 60_000;

/** Somebody who is signed in. */
export interface Visitor {
  /** Of the session. */
  readonly key: string;
  readonly holder: string;
  readonly roles: readonly ConsoleRole[];
}

/** Lets people into the console by a token, or by a link that works once. */
export class Access {
  private readonly store: KeyStore;
  private readonly now: () => Date;

  constructor(store: KeyStore, now: () => Date = () => new Date()) {
    this.store = store;
    this.now = now;
  }

  /** A key for a link that signs its first user in. */
  async link(holder: string, roles: readonly ConsoleRole[]): Promise<string> {
    const { key, ...stored } = newKey();
    await this.store.putConsoleKey({ ...stored, kind: 'link', holder, roles, parent: null, expiresAt: this.in(LINK_MS) });
    return key;
  }

  /** A session for a token or a link; null: it is none, has expired, or was used. */
  async signIn(text: string): Promise<Visitor | null> {
    const token = await findKey(this.store, text, 'token');
    if (token) return this.open(token, token.name);
    const link = await findKey(this.store, text, 'link');
    // Of two who follow the same link, one is let in.
    return link && (await this.store.endConsoleKey(link.name)) ? this.open(link, null) : null;
  }

  /** Whoever has this session; null: nobody any more. */
  async visitor(cookie: string | undefined): Promise<Visitor | null> {
    const session = cookie === undefined ? null : await findKey(this.store, cookie, 'session');
    return session && cookie !== undefined ? { key: cookie, holder: session.holder, roles: session.roles } : null;
  }

  async signOut({ key }: Visitor): Promise<void> {
    await this.store.endConsoleKey(key.split('.')[0] ?? '');
  }

  private async open({ holder, roles }: ConsoleKey, parent: string | null): Promise<Visitor> {
    const { key, ...stored } = newKey();
    await this.store.putConsoleKey({ ...stored, kind: 'session', holder, roles, parent, expiresAt: this.in(SESSION_MS) });
    return { key, holder, roles };
  }

  private in(ms: number): string {
    return new Date(this.now().getTime() + ms).toISOString();
  }
}

/** A visitor as the audit log names them. */
export function actorOf({ holder, roles }: Pick<Visitor, 'holder' | 'roles'>): Actor {
  return { by: holder, via: 'console', roles };
}

/** Who has a token for labelling alone sees nothing else: verdicts and the names of agents would tell what is to be judged blind. */
export function maySee({ roles }: Pick<Visitor, 'roles'>): boolean {
  return roles.some((role) => role !== 'labeller');
}

/** To steer, to decide and to label are rights of their own. */
export function may({ roles }: Pick<Visitor, 'roles'>, role: Exclude<ConsoleRole, 'viewer'>): boolean {
  return roles.includes(role);
}
