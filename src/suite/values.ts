import { z } from 'zod';
import { GateSyntaxError, parseGate } from '../domain/gates/parse-gate.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Money } from '../domain/model.ts';

/** Text that is not empty. */
export const text = z.string().min(1);

/** Any value of JSON. YAML that was read holds nothing else. */
export const json = z.unknown().transform((value) => value as Json);

/** A mapping whose values may be anything. */
export const jsonObject = z.record(z.string(), json).transform((value) => value as JsonObject);

/** `250ms`, `60s`, `5m`, `1h`; read as milliseconds. */
export const duration = z.string().transform((value, context): number => {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(value) ?? [];
  const ms = amount === undefined ? Number.NaN : Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
  if (!(ms >= 1 && ms <= DAY)) {
    context.addIssue({ code: 'custom', message: `expected a time such as 250ms, 60s, 5m or 1h (at most 24h), found "${value}"` });
    return z.NEVER;
  }
  return ms;
});

/** `0.50 USD`. */
export const money = z.string().transform((value, context): Money => {
  const [, amount, currency] = /^(\d{1,9}(?:\.\d{1,9})?) ([A-Z]{3})$/.exec(value) ?? [];
  if (amount === undefined || currency === undefined || Number(amount) === 0) {
    context.addIssue({ code: 'custom', message: `expected an amount with its currency, such as "0.50 USD", found "${value}"` });
    return z.NEVER;
  }
  return { amount: Number(amount), currency };
});

/** Seconds as a number (`2`), or as {@link duration}; at most 30 days; read as milliseconds. */
export const span = z.union([z.number(), z.string()]).transform((value, context): number => {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(typeof value === 'number' ? `${value}s` : value) ?? [];
  const ms = amount === undefined ? Number.NaN : Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
  if (!(ms >= 1 && ms <= MAX_SPAN)) {
    context.addIssue({ code: 'custom', message: `expected a time such as 2 (seconds), 300ms, 60s, 5m or 2h (at most 30d), found ${JSON.stringify(value)}` });
    return z.NEVER;
  }
  return ms;
});

/** A point in time, with its offset. */
export const instant = z.string().superRefine((value, context) => {
  const message = instantProblem(value);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** A gate, such as `pass>=0.9`. Kept as it is written. */
export const gate = z.string().superRefine((value, context) => {
  try {
    parseGate(value);
  } catch (error) {
    if (!(error instanceof GateSyntaxError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

/** A day, as `2027-01-31`. */
export const day = z.string().superRefine((value, context) => {
  const real = /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString().startsWith(value);
  if (!real) context.addIssue({ code: 'custom', message: `expected a day such as 2027-01-31, found "${value}"` });
});

/** A time zone by its IANA name. */
export const zone = z.string().superRefine((value, context) => {
  if (!isZone(value))
    context.addIssue({
      code: 'custom',
      message: `"${value}" is no time zone; expected an IANA name such as Europe/Berlin or UTC`,
      params: { known: Intl.supportedValuesOf('timeZone'), name: value },
    });
});

/** A name that references can use. */
export const stepName = z.string().superRefine((value, context) => {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(value))
    context.addIssue({ code: 'custom', message: `"${value}" is no name for a step; expected letters, digits, "_" and "-", a letter first` });
});

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DAY = UNITS.d;
const MAX_SPAN = 30 * UNITS.d;

function instantProblem(value: string): string | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?$/.exec(value);
  if (match === null) return `expected a time such as 2026-03-02T09:30:00+01:00, found "${value}"`;
  const [year, month, day, hour, minute] = match.slice(1, 6).map(Number) as [number, number, number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (!real) return `"${value}" is no time that exists`;
  if (match[7] === undefined) return `"${value}" does not say in which zone; add an offset, as in ${value}+01:00, or Z for UTC`;
  return Number.isNaN(Date.parse(value)) ? `"${value}" is no time that exists` : null;
}

function isZone(value: string): boolean {
  if (!/^[A-Za-z]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
