import type { KeyRing } from './key-ring.ts';

/** How a sealed value stands in a column of type json, perhaps with a few fields beside it that queries need in clear. */
interface SealedJson {
  readonly sealed: 1;
  readonly key: string;
  /** Base64. */
  readonly data: string;
}

/** Values on their way into columns of type json and back. Without a key they are kept as they are; what was kept so before is read all the same. */
export class Sealing {
  readonly ring: KeyRing;

  constructor(ring: KeyRing) {
    this.ring = ring;
  }

  /** JSON to be stored. `place`: table, column and trial. `clear`: fields that stay readable beside it. */
  text(value: unknown, place: string, clear: { readonly [name: string]: unknown } = {}): string {
    return this.sealedText(JSON.stringify(value), place, clear);
  }

  /** The same for a value that is JSON already. */
  sealedText(json: string, place: string, clear: { readonly [name: string]: unknown } = {}): string {
    const sealed = this.ring.seal(Buffer.from(json), place);
    return sealed === null ? json : JSON.stringify({ sealed: 1, key: sealed.key, data: sealed.data.toString('base64'), ...clear });
  }

  /** A stored value as it was. @throws {KeyMissingError} @throws {KeyWrongError} */
  open<T>(stored: T, place: string): T {
    return isSealed(stored) ? (JSON.parse(this.openText(stored, place)) as T) : stored;
  }

  /** Its JSON. */
  openText(stored: SealedJson, place: string): string {
    return this.ring.open({ key: stored.key, data: Buffer.from(stored.data, 'base64') }, place).toString();
  }
}

export function isSealed(stored: unknown): stored is SealedJson {
  if (typeof stored !== 'object' || stored === null) return false;
  const { sealed, key, data } = stored as { readonly [name: string]: unknown };
  return sealed === 1 && typeof key === 'string' && typeof data === 'string';
}
