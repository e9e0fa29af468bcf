import { createHash } from 'node:crypto';
import type { TrialSummary } from '../domain/trial.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/**
 * A summary as it is stored: its sentence, which may quote an answer, is sealed; what is counted stays readable to the server. So is the digest of the sentence without what it
 * quotes and counts, by which trials that ended for the same reason are found.
 */
export function summaryText({ sealing }: Sql, summary: TrialSummary): string {
  if (summary.why === null) return JSON.stringify(summary);
  const why: unknown = sealing.ring.current === null ? summary.why : JSON.parse(sealing.text(summary.why, placeOf('attempts', 'summary', summary.trial)));
  return JSON.stringify({ ...summary, why, reason: reasonOf(summary.why) });
}

export function openSummary<T extends TrialSummary | null>({ sealing }: Sql, trial: string, stored: T): T {
  if (stored === null || stored.why === null) return stored;
  const { reason: _, ...summary }: T & { readonly reason?: string } = stored;
  return { ...summary, why: sealing.open(stored.why, placeOf('attempts', 'summary', trial)) } as T;
}

/** The same for sentences that differ only in numbers and in what they quote. */
function reasonOf(why: string): string {
  const kind = why.replaceAll(/"[^"]*"/g, '').replaceAll(/\d+/g, '');
  return createHash('sha256').update(kind).digest('hex').slice(0, 32);
}
