import type { JsonObject } from '../../domain/json.ts';

/**
 * Parses a row image. A number that a JavaScript number cannot hold exactly becomes its text, so that no digit of a numeric or bigint is lost;
 * all others are numbers.
 */
export function parseImage(text: string): JsonObject {
  const safe = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => (token.startsWith('"') || isExact(token) ? token : `"${token}"`));
  return JSON.parse(safe) as JsonObject;
}

function isExact(token: string): boolean {
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');
  // Up to 15 significant digits survive the way to a double and back.
  return digits.length <= 15 || String(Number(token)) === token;
}
