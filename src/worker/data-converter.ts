import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from '../keys/key-ring.ts';
import { payloadCodec } from './payload-codec.ts';

const SEALED_FAILURES = fileURLToPath(new URL(`./sealed-failures.${import.meta.url.endsWith('.js') ? 'js' : 'ts'}`, import.meta.url));

/** How a worker reads and writes what passes through Temporal; also what a replay of its histories needs. */
export function dataConverterFor(ring: KeyRing): DataConverter {
  return { payloadCodecs: [payloadCodec(ring)], ...(ring.current !== null && { failureConverterPath: SEALED_FAILURES }) };
}
