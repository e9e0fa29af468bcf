/** Something is sealed with a key that this process was not given. Nothing was changed. */
export class KeyMissingError extends Error {
  override readonly name = 'KeyMissingError';
  readonly code = 'key_missing';
  readonly key: string;

  constructor(key: string, place: string, known: readonly string[]) {
    const has = known.length === 0 ? 'is not set' : `has only ${known.join(', ')}`;
    const mend = known.length === 0 ? `Set TRIALBED_KEYS to "${key}=..."` : `Add "${key}=..." to TRIALBED_KEYS, behind the current key "${known[0]}"`;
    super(`${place} is encrypted with the key "${key}", and TRIALBED_KEYS ${has}; nothing was changed. ${mend}, and start this worker or command again`);
    this.key = key;
  }
}

/** A key of this name does not open what was sealed under it. Nothing was changed. */
export class KeyWrongError extends Error {
  override readonly name = 'KeyWrongError';
  readonly code = 'key_wrong';
  readonly key: string;

  constructor(key: string, place: string, cause: unknown) {
    super(
      `${place} is encrypted with a key named "${key}", and the "${key}" of TRIALBED_KEYS does not open it (another key, or the bytes were changed); nothing was changed. Put back the key that it was`,
      { cause },
    );
    this.key = key;
  }
}
