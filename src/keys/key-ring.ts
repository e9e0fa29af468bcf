import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { KeyMissingError, KeyWrongError } from './errors.ts';

/** A key by which records are sealed. */
export interface SealKey {
  /** Lower-case letters, digits and dashes; stands beside everything that is sealed with it. */
  readonly id: string;
  /** 32 random bytes in base64. */
  readonly secret: string;
}

/** Bytes as they are kept: which key opens them, and what it opens. */
export interface Sealed {
  readonly key: string;
  readonly data: Buffer;
}

const SALT = 16;
const IV = 12;
const TAG = 16;
const PURPOSE = 'trialbed sealed 1';

/**
 * The keys of a process. Everything is sealed with the first; the others open what was sealed with them. AES-256-GCM under a key of its own for each value, which is derived
 * from the ring's key and a random salt, so that no number of values wears a key out. A value opens only at the place it was sealed for.
 */
export class KeyRing {
  private readonly secrets: ReadonlyMap<string, Buffer>;
  /** Id of the key that seals; null: nothing is sealed. */
  readonly current: string | null;

  constructor(keys: readonly SealKey[]) {
    this.secrets = new Map(keys.map(({ id, secret }) => [id, Buffer.from(secret, 'base64')]));
    this.current = keys[0]?.id ?? null;
  }

  get ids(): readonly string[] {
    return [...this.secrets.keys()];
  }

  /** Null where the ring is empty. */
  seal(plain: Uint8Array, place: string): Sealed | null {
    if (this.current === null) return null;
    const salt = randomBytes(SALT);
    const iv = randomBytes(IV);
    const cipher = createCipheriv('aes-256-gcm', this.derived(this.current, salt, place), iv, { authTagLength: TAG });
    cipher.setAAD(Buffer.from(place));
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    return { key: this.current, data: Buffer.concat([salt, iv, cipher.getAuthTag(), text]) };
  }

  /** @throws {KeyMissingError} {@link KeyWrongError} for another key of that name, another place, or bytes that were changed */
  open({ key, data }: Sealed, place: string): Buffer {
    const secret = this.derived(key, data.subarray(0, SALT), place);
    try {
      const decipher = createDecipheriv('aes-256-gcm', secret, data.subarray(SALT, SALT + IV), { authTagLength: TAG });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(data.subarray(SALT + IV, SALT + IV + TAG));
      return Buffer.concat([decipher.update(data.subarray(SALT + IV + TAG)), decipher.final()]);
    } catch (error) {
      throw new KeyWrongError(key, place, error);
    }
  }

  private derived(key: string, salt: Uint8Array, place: string): Buffer {
    const secret = this.secrets.get(key);
    if (!secret) throw new KeyMissingError(key, place, this.ids);
    return Buffer.from(hkdfSync('sha256', secret, salt, PURPOSE, 32));
  }
}

/** A key that nobody has had before. */
export function newKey(id: string): SealKey {
  return { id, secret: randomBytes(32).toString('base64') };
}
