import { ArithmeticError, evaluate } from './arithmetic.ts';
import { refusal } from './refusal.ts';

/**
 * The value of an arithmetic expression, rounded to 2 decimals, as Python prints a float: `4.0`, `0.33`, `1e+16`.
 * @throws {ToolFailure} `invalid_characters`, `invalid_expression`
 */
export function calculate(expression: string): string {
  if (!/^[0-9+\-*/(). ]*$/.test(expression)) throw refusal('invalid_characters');
  try {
    return floatText(roundedToCents(evaluate(expression)));
  } catch (error) {
    if (error instanceof ArithmeticError) throw refusal('invalid_expression', error.message);
    throw error;
  }
}

/** Rounds the exact binary value to 2 decimals, ties to the even digit. */
function roundedToCents(value: number): number {
  const size = Math.abs(value);
  const eighths = size * 8;
  // Only odd eighths lie halfway between two cents in binary.
  if (Number.isSafeInteger(eighths) && eighths % 2 === 1) {
    const below = (25n * BigInt(eighths) - 1n) / 2n;
    const cents = below % 2n === 0n ? below : below + 1n;
    const digits = String(cents).padStart(3, '0');
    return Number(`${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`);
  }
  return Number.isFinite(value) && size < 1e16 ? Number(value.toFixed(2)) || (value < 0 || Object.is(value, -0) ? -0 : 0) : value;
}

/** As Python prints a float. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  if (Math.abs(value) >= 1e16) return value.toExponential();
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
