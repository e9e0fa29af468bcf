import { type Interval, LEVEL } from './interval.ts';
import { critical } from './quantiles.ts';
import { scoreInterval } from './wilson.ts';

/** Agreement of two raters beyond that of chance. */
export interface Kappa {
  /** 1: they always agree; 0: as often as by chance; below: less. */
  readonly kappa: number;
  readonly standardError: number;
  readonly interval: Interval;
  /** Share of subjects on which they agree. */
  readonly observed: number;
  /** Share on which they would by chance. */
  readonly expected: number;
  readonly n: number;
}

/**
 * Cohen's kappa of a square table: how many subjects the first rater put in the row's class and the second one in the column's (Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20, 1960), with the large-sample
 * standard error of Fleiss, Cohen and Everitt (Psychol. Bull. 72, 1969, formula 13).
 *
 * The interval is Wilson's for the share of disagreement, of as many subjects as have this standard error, divided by the share that chance would give; so it is not empty where raters agree on everything. Null where there is no subject, or
 * where both put all into one class: then chance alone agrees on everything, and kappa is not defined.
 */
export function cohensKappa(table: readonly (readonly number[])[], level: number = LEVEL): Kappa | null {
  const n = sum(table.map(sum));
  if (n === 0) return null;
  const shares = table.map((row) => row.map((count) => count / n));
  const rows = shares.map(sum);
  const columns = rows.map((_, column) => sum(shares.map((row) => row[column] ?? 0)));
  const observed = sum(shares.map((row, i) => row[i] ?? 0));
  const expected = sum(rows.map((share, i) => share * (columns[i] ?? 0)));
  if (1 - expected < TINY) return null;
  const kappa = (observed - expected) / (1 - expected);
  const standardError = Math.sqrt(Math.max(0, variance({ shares, rows, columns, kappa, expected })) / n);
  return { kappa, standardError, interval: intervalOf({ observed, expected, standardError, n }, level), observed, expected, n };
}

const TINY = 1e-12;

interface Shares {
  readonly shares: readonly (readonly number[])[];
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly kappa: number;
  readonly expected: number;
}

function variance({ shares, rows, columns, kappa, expected }: Shares): number {
  const rest = 1 - kappa;
  const parts = shares.map((row, i) =>
    sum(
      row.map((share, j) => {
        const marginal = (columns[i] ?? 0) + (rows[j] ?? 0);
        return share * (i === j ? (1 - marginal * rest) ** 2 : (rest * marginal) ** 2);
      }),
    ),
  );
  return (sum(parts) - (kappa - expected * rest) ** 2) / (1 - expected) ** 2;
}

function intervalOf(of: Pick<Kappa, 'observed' | 'expected' | 'standardError' | 'n'>, level: number): Interval {
  const differ = 1 - of.observed;
  const error = of.standardError * (1 - of.expected);
  const n = error > 0 && differ > 0 && differ < 1 ? (differ * of.observed) / error ** 2 : of.n;
  const { low, high } = scoreInterval(differ, n, critical(level));
  return { low: Math.max(-1, 1 - high / (1 - of.expected)), high: 1 - low / (1 - of.expected) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
