import type { Deed } from '../hands/hands.ts';

/** What was done, and whether the customer knows of it. */
export function andTold(done: string, told: Deed): string {
  return told.state === 'done' ? `${done} and told the customer by mail.` : `${done}. ${notDone('the customer was told by mail', told)}`;
}

/** Of `what`, such as "the order was cancelled", that it is not so, or that nobody knows. */
export function notDone(what: string, deed: Exclude<Deed, { state: 'done' }>): string {
  if (deed.state === 'unknown') return `It is not known whether ${what}; please look before anybody tries again.`;
  const not = what.replace(/\b(was|were)\b/, '$1 not');
  return `${not.charAt(0).toUpperCase()}${not.slice(1)}: ${deed.why}.`;
}

export function eur(amount: number): string {
  return `${amount.toFixed(2)} EUR`;
}

export function longDate(iso: string): string {
  return new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'Europe/Berlin' });
}
