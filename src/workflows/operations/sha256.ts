/** SHA-256 of a text's UTF-8 bytes, in hexadecimal (FIPS 180-4). Workflow code has no `crypto`, and its own hash of the SDK is not public. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);

  const state = Uint32Array.from(INITIAL);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++)
      words[i] = smallSigma(at(words, i - 2), 17, 19, 10) + at(words, i - 7) + smallSigma(at(words, i - 15), 7, 18, 3) + at(words, i - 16);
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

function compress(state: Uint32Array, words: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const first = (h + bigSigma(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + at(ROUND, i) + at(words, i)) >>> 0;
    const second = (bigSigma(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + second) >>> 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = at(state, i) + word;
}

function bigSigma(x: number, i: number, j: number, k: number): number {
  return (rotated(x, i) ^ rotated(x, j) ^ rotated(x, k)) >>> 0;
}

function smallSigma(x: number, i: number, j: number, shift: number): number {
  return (rotated(x, i) ^ rotated(x, j) ^ (x >>> shift)) >>> 0;
}

function rotated(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}

function at(list: Uint32Array, index: number): number {
  return list[index] ?? 0;
}

/** First 32 bits of the fractional parts of a root of the first primes, which is how the standard defines its constants. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const list: number[] = [];
  for (let n = 2; list.length < count; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) list.push(((root(n) % 1) * 0x100000000) >>> 0);
  }
  return Uint32Array.from(list);
}

const INITIAL = fractions(8, Math.sqrt);
const ROUND = fractions(64, Math.cbrt);
