import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { KeyRing } from '../keys/key-ring.ts';

const { Payload: Wire } = proto.temporal.api.common.v1;

const ENCODING = 'binary/encrypted';
const PLACE = 'a payload in Temporal';

/**
 * Encrypts what passes through Temporal, with the ring that seals the store. With an empty ring payloads pass as they are. Payloads that were never encrypted are read in any
 * case, and what was encrypted with a key that the ring has not is a {@link KeyMissingError}.
 */
export function payloadCodec(ring: KeyRing): PayloadCodec {
  return {
    encode: async (payloads) => (ring.current === null ? payloads : payloads.map((payload) => encrypted(ring, payload))),
    decode: async (payloads) =>
      payloads.some(isEncrypted) ? payloads.map((payload) => (isEncrypted(payload) ? decrypted(ring, payload) : payload)) : payloads,
  };
}

function encrypted(ring: KeyRing, payload: Payload): Payload {
  const sealed = ring.seal(Wire.encode(payload).finish(), PLACE);
  if (sealed === null) return payload;
  return { metadata: { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(sealed.key) }, data: sealed.data };
}

function decrypted(ring: KeyRing, { metadata, data }: Payload): Payload {
  const key = Buffer.from(metadata?.['encryption-key-id'] ?? []).toString();
  return Wire.decode(ring.open({ key, data: Buffer.from(data ?? []) }, PLACE));
}

function isEncrypted({ metadata }: Payload): boolean {
  const encoding = metadata?.['encoding'];
  // Asked of everything that passes.
  return encoding?.length === ENCODING.length && Buffer.from(encoding).toString() === ENCODING;
}
