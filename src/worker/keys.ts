import { z } from 'zod';
import type { SealKey } from '../keys/key-ring.ts';

const EXPECTED = 'keys such as "2026-12=BASE64 2026-06=BASE64", the current one first, each of 32 bytes (`trialbed keys new` makes one)';
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** 32 bytes in base64. */
const SECRET = /^[A-Za-z0-9+/]{43}=$/;

/** Keys with spaces or commas between them. Of what is wrong only its place is told: the rest is a secret. */
export function parseKeys(text: string, context: z.RefinementCtx): readonly SealKey[] {
  const keys: SealKey[] = [];
  for (const [index, part] of text
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .entries()) {
    const [, id = '', secret = ''] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    const wrong = !part.includes('=')
      ? 'has no name before a "="'
      : !NAME.test(id)
        ? 'has a name of other signs than lower-case letters, digits and dashes, or none'
        : 'is not 32 bytes in base64 behind its "="';
    if (!NAME.test(id) || !SECRET.test(secret)) return refuse(`${EXPECTED}; number ${index + 1} ${wrong}`);
    if (keys.some((key) => key.id === id)) return refuse(`each key once; "${id}" is there twice`);
    keys.push({ id, secret });
  }
  return keys;

  function refuse(message: string): never {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
}
