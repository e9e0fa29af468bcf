import type { TrialSummary } from '../domain/trial.ts';
import type { Sql } from './database.ts';
import { placeOf } from './sealed-columns.ts';

/** A summary as it is stored: its sentence, which may quote an answer, is sealed; what is counted stays readable to the server. */
export function summaryText({ sealing }: Sql, summary: TrialSummary): string {
  if (summary.why === null || sealing.ring.current === null) return JSON.stringify(summary);
  return JSON.stringify({ ...summary, why: JSON.parse(sealing.text(summary.why, placeOf('attempts', 'summary', summary.trial))) });
}

export function openSummary<T extends TrialSummary | null>({ sealing }: Sql, trial: string, stored: T): T {
  if (stored === null || stored.why === null) return stored;
  return { ...stored, why: sealing.open(stored.why, placeOf('attempts', 'summary', trial)) };
}
