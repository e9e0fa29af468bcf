/** An exact decimal number: `unscaled / 10^scale`, without trailing zeros after the point. */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

const MAX_DIGITS = 400;

/** Reads a number or a text that is a number and nothing else (`25`, `-3.50`, `1e3`); null when it is none, or longer than 400 digits. */
export function decimalOf(value: number | string): Decimal | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (text.length > MAX_DIGITS + 20) return null;
  const found = /^\s*([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  if (found === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = found;
  const shift = Number(exponent) - fraction.length;
  if (Math.abs(shift) > MAX_DIGITS) return null;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return shift >= 0 ? { unscaled: digits * 10n ** BigInt(shift), scale: 0 } : trimmed(digits, -shift);
}

/** Rounded half away from zero at `places` decimal places. */
export function rounded(value: Decimal, places: number): Decimal {
  if (!Number.isInteger(places) || places < 0 || value.scale <= places) return value;
  const unit = 10n ** BigInt(value.scale - places);
  const negative = value.unscaled < 0n;
  const size = negative ? -value.unscaled : value.unscaled;
  const up = (size + unit / 2n) / unit;
  return trimmed(negative ? -up : up, places);
}

/** Negative, zero or positive, as `a` is below, equal to or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const left = a.unscaled * 10n ** BigInt(scale - a.scale);
  const right = b.unscaled * 10n ** BigInt(scale - b.scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** One text for equal numbers. */
export function decimalText(value: Decimal): string {
  return `${value.unscaled}e-${value.scale}`;
}

function trimmed(unscaled: bigint, scale: number): Decimal {
  if (unscaled === 0n) return { unscaled: 0n, scale: 0 };
  let digits = unscaled;
  let places = scale;
  while (places > 0 && digits % 10n === 0n) {
    digits /= 10n;
    places--;
  }
  return { unscaled: digits, scale: places };
}
