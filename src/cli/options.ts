import { InvalidArgumentError } from 'commander';
import { GateSyntaxError, parseGate } from '../domain/gates/parse-gate.ts';
import { type ConfirmAbove, parseConfirmAbove } from '../domain/confirmation.ts';
import type { Json } from '../domain/json.ts';
import type { Money } from '../domain/model.ts';
import { MAX_CONCURRENCY } from '../domain/trial.ts';

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** A whole number from 1. */
export function positiveInteger(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return number;
}

/** Trials in flight. */
export function concurrency(value: string): number {
  const number = positiveInteger(value);
  if (number > MAX_CONCURRENCY) throw new InvalidArgumentError(`It must be at most ${MAX_CONCURRENCY}.`);
  return number;
}

/** From 1 to 5. */
export function priority(value: string): number {
  if (!/^[1-5]$/.test(value)) throw new InvalidArgumentError('It must be a whole number from 1 (served first) to 5.');
  return Number(value);
}

/** `2/4`: the second of four parts. */
export function shard(value: string): { index: number; of: number } {
  const match = /^(\d+)\/(\d+)$/.exec(value);
  const index = Number(match?.[1]);
  const of = Number(match?.[2]);
  if (!match || index < 1 || of < 1 || index > of) throw new InvalidArgumentError('It must be PART/PARTS, for example 2/4, with the first part 1.');
  return { index, of };
}

/** `90s`, `30m`, `2h`, `7d`, in milliseconds. */
export function duration(value: string): number {
  const [, amount, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(value) ?? [];
  if (amount === undefined || unit === undefined || Number(amount) === 0) throw new InvalidArgumentError('It must be a duration such as 90s, 30m, 2h or 7d.');
  return Number(amount) * { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 's' | 'm' | 'h' | 'd'];
}

/** `2.50 USD`. */
export function moneyAmount(value: string): Money {
  const [, amount, currency] = /^(\d{1,9}(?:\.\d{1,9})?) ?([A-Z]{3})$/.exec(value) ?? [];
  if (amount === undefined || currency === undefined || Number(amount) === 0)
    throw new InvalidArgumentError('It must be an amount with its currency, for example "2.50 USD".');
  return { amount: Number(amount), currency };
}

/** A gate such as `pass>=0.9`, several times; kept as it is written. */
export function gates(value: string, before: readonly string[] | undefined): readonly string[] {
  try {
    return [...(before ?? []), parseGate(value).text];
  } catch (error) {
    throw error instanceof GateSyntaxError ? new InvalidArgumentError(`${error.message}.`) : error;
  }
}

/** `500 trials`, `5.00 USD`, or both with a comma between them. */
export function confirmAbove(value: string): ConfirmAbove {
  const limits = parseConfirmAbove(value);
  if (limits === null) throw new InvalidArgumentError('It must be a limit such as "500 trials", "5.00 USD", or both with a comma between them.');
  return limits;
}

/** `name=value`, several times: the value is JSON where it reads as JSON (`50`, `true`, `["a"]`), else text. A name given twice is an error. */
export function assignment(value: string, before: { readonly [name: string]: Json } | undefined): { [name: string]: Json } {
  const split = value.indexOf('=');
  const name = value.slice(0, split).trim();
  if (split < 0 || !/^[A-Za-z_][\w.-]*$/.test(name)) throw new InvalidArgumentError('It must be NAME=VALUE, for example limit=50.');
  if (before !== undefined && Object.hasOwn(before, name)) throw new InvalidArgumentError(`"${name}" is given twice.`);
  return { ...before, [name]: jsonOrText(value.slice(split + 1)) };
}

/** A list in one argument: `email,project_management`. */
export function commaList(value: string): string[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new InvalidArgumentError('It must be names with commas between them.');
  return names;
}

/** `lost-reply,rate-*`, several times. */
export function faultNames(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), ...commaList(value)];
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
