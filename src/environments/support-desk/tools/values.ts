import { z } from 'zod';

/** Arguments and results that several tools share. Money is EUR, at most two decimal places. */
export const customerId = z.int().positive().describe('Customer number, for example 1001.');
export const orderId = z.int().positive().describe('Order number, for example 5001.');
export const ticketId = z.int().positive().describe('Ticket number, for example 201.');
export const amount = z.number().positive().max(1_000_000).refine(isCents, 'at most two decimal places').describe('EUR, for example 24.5.');
export const day = z.iso.date().describe('A date, YYYY-MM-DD.');

/** A numeric column as a number. The column has two decimal places, which a double holds exactly enough to be printed back. */
export function money(value: unknown): number {
  return Number(value);
}

/** An amount as people write it. */
export function eur(value: number): string {
  return `${value.toFixed(2)} EUR`;
}

/** Text for `ilike` that matches any text around it, with its own wildcards taken literally. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

function isCents(value: number): boolean {
  return Math.abs(value * 100 - Math.round(value * 100)) < 1e-6;
}
