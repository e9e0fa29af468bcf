import type { KeyUse, Rotation } from '../store/keys.ts';
import type { Root } from '../worker/root.ts';

/** There is no key to encrypt with. */
export class NoKeyError extends Error {
  override readonly name = 'NoKeyError';
  readonly code = 'no_key';

  constructor() {
    super('no key is set, so nothing was encrypted: make one with `trialbed keys new`, and put it into TRIALBED_KEYS here and at every worker');
  }
}

/** The keys by which the store is encrypted. */
export interface Keys {
  /** What each opens, the current one first. */
  list(): Promise<readonly KeyUse[]>;
  /** Encrypts everything in the store with the current key, `batch` (default 200) rows at a time. May be broken off and repeated. @throws {NoKeyError} */
  rotate(options?: { readonly batch?: number; readonly onProgress?: (changed: number) => void }): Promise<Rotation & { readonly key: string }>;
}

/** `signal`: the client is closed. */
export function keysOver({ store, config }: Pick<Root, 'store' | 'config'>, signal: AbortSignal): Keys {
  return {
    list: () => store.keys(),
    async rotate(options = {}) {
      const [current] = config.keys;
      if (current === undefined) throw new NoKeyError();
      return { key: current.id, ...(await store.rotateKeys({ ...options, signal })) };
    },
  };
}
