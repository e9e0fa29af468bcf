import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is neither null nor false nor an error. The limit is only against hanging. @throws what was waited for, with the last error. */
export async function until<T>(what: string, ask: () => Promise<T | null | false>, limitMs = 120_000): Promise<T> {
  const deadline = Date.now() + limitMs;
  let cause: unknown;
  while (Date.now() < deadline) {
    try {
      const answer = await ask();
      if (answer !== null && answer !== false) return answer;
    } catch (error) {
      cause = error;
    }
    await sleep(50);
  }
  throw new Error(`waited in vain until ${what}`, { cause });
}
