import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/environments/define.ts';
import { calculate } from '../../src/environments/retail/calculate.ts';

/** Expected values are those of Python: str(round(float(eval(expression)), 2)). */
describe('an expression', () => {
  it.each([
    ['2 + 2', '4.0'],
    ['1/3', '0.33'],
    ['7//2', '3.0'],
    ['0.125', '0.12'],
    ['0.375', '0.38'],
    ['-0.625', '-0.62'],
    ['2.675', '2.67'],
    ['1.005', '1.0'],
    ['155.33 - 147.05 + 268.77 - 235.13', '41.92'],
    ['135.24 - 153.23', '-17.99'],
    ['-0.001', '-0.0'],
    ['0 * -1.0', '-0.0'],
    ['0 * -1', '0.0'],
    ['2 ** 3 ** 2', '512.0'],
    ['-2 ** 2', '-4.0'],
    ['2 ** -1', '0.5'],
    ['(-8) ** 3', '-512.0'],
    ['-7 // 2', '-4.0'],
    ['-7.5 // 2', '-4.0'],
    ['1 // 0.1', '9.0'],
    ['--2', '2.0'],
    ['2--2', '4.0'],
    ['+5 - -(3)', '8.0'],
    ['1. + .5', '1.5'],
    ['000', '0.0'],
    ['00.5', '0.5'],
    ['  12', '12.0'],
    ['10 - 4 - 3', '3.0'],
    ['100 / 10 / 5', '2.0'],
    ['2 * (3 + 4) * 5', '70.0'],
    ['2 ** 3', '8.0'],
    ['10 ** 16', '1e+16'],
    ['12345678901234567890', '1.2345678901234567e+19'],
    ['9999999999999998', '9999999999999998.0'],
    ['10 ** 400 // 10 ** 399', '10.0'],
    ['10 ** 400 / 10 ** 399', '10.0'],
    ['(10 ** 17 + 1) / 10 ** 17 * 3', '3.0'],
    ['10.0 ** 300 * 10.0 ** 300', 'inf'],
    ['10.0 ** 300 * 10.0 ** 300 - 10.0 ** 300 * 10.0 ** 300', 'nan'],
    ['1 ** 10 ** 10', '1.0'],
  ])('%s', (expression, value) => {
    expect(calculate(expression)).toBe(value);
  });
});

describe('what is not to be calculated is refused', () => {
  it.each(['1,000', '5%2', '1e3', 'x', 'process.exit(1)', '1 + 1\n', '１', '2 + 2;'])('%s has invalid characters', (expression) => {
    expect(() => calculate(expression)).toThrow(new ToolFailure('invalid_characters', 'Error: invalid characters in expression'));
  });

  it.each(['1/0', '1//0', '1.0 / 0', '(2 - 2) ** 0 / 0'])('%s divides by zero', (expression) => {
    expect(() => calculate(expression)).toThrow(new ToolFailure('invalid_expression', 'Error: division by zero'));
  });

  it.each([
    '',
    ' ',
    '2 +',
    '* 2',
    '()',
    '(1',
    '1)',
    '(1)(2)',
    '1 2',
    '1 .5',
    '1.2.3',
    '.',
    '007',
    '2 * * 3',
    '6 / / 2',
    '0 ** -1',
    '(-8) ** 0.5',
    '10 ** 400',
    '10.0 ** 400',
    '9 ** 9 ** 9',
    '9 ** 9 ** 9 ** 9 ** 9',
  ])('%s', (expression) => {
    expect(() => calculate(expression)).toThrow(/^Error: ./);
  });

  it('however long or deep it is', () => {
    for (const text of ['('.repeat(50_000), '-'.repeat(99_999), `1${'+1'.repeat(49_000)}+`, '1**'.repeat(30_000), '9'.repeat(50_000), '1'.repeat(200_000)]) {
      expect(() => calculate(text)).toThrow(ToolFailure);
    }
    expect(calculate(`1${'+1'.repeat(49_000)}`)).toBe('49001.0');
  });
});
