import type { Json } from '../domain/json.ts';

const MAX_JSON = 1_000_000;
const RUN = /(?:[A-Za-z0-9+/]{60,76}\r?\n){1,20000}[A-Za-z0-9+/]{1,76}={0,2}|[A-Za-z0-9+/_-]{12,2000000}={0,2}/g;
const HEX = /\b(?:[0-9a-fA-F]{2}){8,1000000}\b/g;
const PERCENT = /[^\s"'<>]*%[0-9A-Fa-f]{2}[^\s"'<>]*/g;

/** JSON that a text is, where it is an object or a list; null: it is none. */
export function parsedJson(text: string): Json {
  const trimmed = text.trim();
  if (trimmed.length > MAX_JSON || !/^[[{]/.test(trimmed)) return null;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return null;
  }
}

/** Parts of a text that may be another text in base64, base64url, hexadecimal or URL encoding, with what they would then be. */
export function decodedRuns(text: string): readonly { readonly run: string; readonly decoded: readonly string[] }[] {
  const found: { run: string; decoded: readonly string[] }[] = [];
  for (const [run] of text.matchAll(PERCENT)) {
    const decoded = percentDecoded(run);
    if (decoded !== null && decoded !== run) found.push({ run, decoded: [decoded] });
  }
  for (const [run] of text.matchAll(HEX)) found.push({ run, decoded: [Buffer.from(run, 'hex').toString('utf8')].filter(isText) });
  for (const [run] of text.matchAll(RUN)) {
    const plain = run.replace(/[\r\n]/g, '');
    // What stands before it may be of the same alphabet, such as the slash of a path.
    found.push({ run, decoded: [0, 1, 2, 3].map((from) => Buffer.from(plain.slice(from), 'base64').toString('utf8')).filter(isText) });
  }
  return found;
}

/** Whether bytes that were read as text are one, and no chance: hardly any of its signs are none. */
function isText(text: string): boolean {
  let odd = 0;
  for (const sign of text) if (sign === '\uFFFD' || (sign < ' ' && !/\s/.test(sign))) odd++;
  return text.length > 0 && odd * 5 <= text.length;
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
