import { outageOf } from '../../domain/outage.ts';
import { printable } from '../../domain/text/bounded.ts';

/** What was asked, or why it was not answered. */
export type Answer<T> =
  | { readonly value: T; readonly problem: null; readonly late: false }
  /** `late`: it may only have been slow. */
  | { readonly value: null; readonly problem: string; readonly late: boolean };

/**
 * The answer to a question, if it comes in time. Never rejects: whoever asks why something stands still has to hear of the rest too. What comes later is dropped.
 */
export async function soon<T>(ms: number, work: () => Promise<T>): Promise<Answer<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Answer<T>>((resolve) => {
    timer = setTimeout(() => resolve({ value: null, problem: `there was no answer within ${ms} ms`, late: true }), ms);
  });
  const asked = (async () => work())().then(
    (value): Answer<T> => ({ value, problem: null, late: false }),
    (error: unknown): Answer<T> => ({ value: null, problem: problemOf(error), late: false }),
  );
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

const MAX_PROBLEM = 300;

function problemOf(error: unknown): string {
  const outage = outageOf(error);
  if (outage) return `${outage.service} ${outage.reason}`;
  return printable(error instanceof Error ? error.message : String(error), MAX_PROBLEM);
}
