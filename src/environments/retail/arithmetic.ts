/**
 * Arithmetic as Python has it, on whole numbers of any size and double floats: `+ - * / // **`, signs and parentheses. The text is taken apart by the parser below,
 * and never evaluated as code. Length, depth and size of numbers are bounded.
 */
export function evaluate(expression: string): number {
  const parser = new Parser(expression);
  const value = parser.sum(0);
  parser.end();
  return asFloat(value);
}

/** The text is no expression, or its value cannot be told. The message is for the agent. */
export class ArithmeticError extends Error {
  override readonly name = 'ArithmeticError';
  readonly code = 'arithmetic';
}

/** A whole number is a bigint, a float a number. */
type Value = bigint | number;

const MAX_LENGTH = 100_000;
/** Parentheses, signs and powers within each other. */
const MAX_DEPTH = 200;
const MAX_DIGITS = 4_300;
const MAX_BITS = 65_536;

class Parser {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    if (text.length > MAX_LENGTH) throw new ArithmeticError('the expression is too long');
    this.#text = text;
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  sum(depth: number): Value {
    let value = this.#product(depth);
    for (;;) {
      if (this.#take('+')) value = add(value, this.#product(depth));
      else if (this.#take('-')) value = add(value, negated(this.#product(depth)));
      else return value;
    }
  }

  #product(depth: number): Value {
    let value = this.#signed(depth);
    for (;;) {
      if (this.#take('//')) value = floorQuotient(value, this.#signed(depth));
      else if (this.#take('/')) value = quotient(value, this.#signed(depth));
      else if (this.#take('*')) value = times(value, this.#signed(depth));
      else return value;
    }
  }

  /** A sign binds less than a power on its right: -2 ** 2 is -4. */
  #signed(depth: number): Value {
    if (depth > MAX_DEPTH) throw new ArithmeticError('the expression is nested too deeply');
    if (this.#take('-')) return negated(this.#signed(depth + 1));
    if (this.#take('+')) return this.#signed(depth + 1);
    const base = this.#operand(depth);
    return this.#take('**') ? power(base, this.#signed(depth + 1)) : base;
  }

  #operand(depth: number): Value {
    if (!this.#take('(')) return this.#number();
    const value = this.sum(depth + 1);
    if (!this.#take(')')) throw this.#unexpected();
    return value;
  }

  #number(): Value {
    this.#space();
    const pattern = /\d+\.\d*|\.\d+|\d+/y;
    pattern.lastIndex = this.#at;
    const [digits] = pattern.exec(this.#text) ?? [];
    if (digits === undefined) throw this.#unexpected();
    this.#at += digits.length;
    if (digits.includes('.')) return Number(digits);
    if (/^0+[1-9]/.test(digits)) throw new ArithmeticError('a whole number must not begin with 0');
    if (digits.length > MAX_DIGITS) throw new ArithmeticError('a number is too long');
    return BigInt(digits);
  }

  /** `*` is not the half of `**`, nor `/` of `//`. */
  #take(operator: string): boolean {
    this.#space();
    if (!this.#text.startsWith(operator, this.#at)) return false;
    if ((operator === '*' || operator === '/') && this.#text.charAt(this.#at + 1) === operator) return false;
    this.#at += operator.length;
    return true;
  }

  #space(): void {
    while (this.#text.charAt(this.#at) === ' ') this.#at += 1;
  }

  #unexpected(): ArithmeticError {
    return new ArithmeticError(this.#at < this.#text.length ? `invalid syntax at character ${this.#at + 1}` : 'invalid syntax: the expression is not complete');
  }
}

function add(a: Value, b: Value): Value {
  return typeof a === 'bigint' && typeof b === 'bigint' ? a + b : asFloat(a) + asFloat(b);
}

function negated(value: Value): Value {
  return -value;
}

function times(a: Value, b: Value): Value {
  if (typeof a !== 'bigint' || typeof b !== 'bigint') return asFloat(a) * asFloat(b);
  requireSize(bits(a) + bits(b));
  return a * b;
}

function quotient(a: Value, b: Value): number {
  requireDivisor(b);
  if (typeof a !== 'bigint' || typeof b !== 'bigint' || (isSafe(a) && isSafe(b))) return asFloat(a) / asFloat(b);
  // 80 more bits than a float holds: what is cut off decides nothing but the sticky last bit.
  const shift = Math.max(0, 80 + bits(b) - bits(a));
  const [top, bottom] = [(a < 0n ? -a : a) << BigInt(shift), b < 0n ? -b : b];
  const whole = (top / bottom) | (top % bottom === 0n ? 0n : 1n);
  const size = a < 0n !== b < 0n ? -whole : whole;
  return shift <= 1000 ? asFloat(size) / 2 ** shift : asFloat(size) / 2 ** 1000 / 2 ** (shift - 1000);
}

function floorQuotient(a: Value, b: Value): Value {
  requireDivisor(b);
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    const whole = a / b;
    return a % b !== 0n && a < 0n !== b < 0n ? whole - 1n : whole;
  }
  return floorFloats(asFloat(a), asFloat(b));
}

/** By the remainder, as Python does: 1 // 0.1 is 9, though 1 / 0.1 is 10. */
function floorFloats(a: number, b: number): number {
  const remainder = a % b;
  let whole = (a - remainder) / b;
  if (remainder !== 0 && b < 0 !== remainder < 0) whole -= 1;
  if (whole === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  const floor = Math.floor(whole);
  return whole - floor > 0.5 ? floor + 1 : floor;
}

function power(base: Value, exponent: Value): Value {
  if (typeof base === 'bigint' && typeof exponent === 'bigint' && exponent >= 0n) {
    if (base === 0n || base === 1n) return exponent === 0n ? 1n : base;
    if (base === -1n) return exponent % 2n === 0n ? 1n : -1n;
    requireSize(Number(exponent) * (bits(base) - 1));
    return base ** exponent;
  }
  const [a, b] = [asFloat(base), asFloat(exponent)];
  if (a === 0 && b < 0) throw new ArithmeticError('0.0 cannot be raised to a negative power');
  if (a < 0 && Number.isFinite(a) && Number.isFinite(b) && !Number.isInteger(b)) throw new ArithmeticError('the power of a negative number is complex');
  // Unlike JavaScript, Python has 1 to whatever power as 1.
  const value = a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b;
  if (!Number.isFinite(value) && Number.isFinite(a) && Number.isFinite(b)) throw new ArithmeticError('the result is too large');
  return value;
}

function asFloat(value: Value): number {
  const float = Number(value);
  if (typeof value === 'bigint' && !Number.isFinite(float)) throw new ArithmeticError('a whole number is too large for a float');
  return float;
}

function requireDivisor(value: Value): void {
  if (value === 0n || value === 0) throw new ArithmeticError('division by zero');
}

function requireSize(size: number): void {
  if (size > MAX_BITS) throw new ArithmeticError('a whole number is too large');
}

function isSafe(value: bigint): boolean {
  return value <= 9_007_199_254_740_992n && value >= -9_007_199_254_740_992n;
}

function bits(value: bigint): number {
  return (value < 0n ? -value : value).toString(2).length;
}
