import type { OperationProblem, ToldState } from '../domain/operation.ts';
import type { RuntimeWords } from '../domain/runtime.ts';

/** A problem in the words in which production would tell it; ours where the pack declares none. The code stays. */
export function inProductionWords(
  problem: OperationProblem,
  told: { readonly tool: string; readonly state: ToldState },
  words: RuntimeWords = {},
): OperationProblem {
  const template = told.state === 'unknown' ? words.unknown : told.state === 'denied' ? words.denied : wordsOfCode(problem.code, words);
  // Where it was told as a date there are no seconds to put in.
  if (template === undefined || (template.includes('{seconds}') && problem.retryAfterSeconds === undefined)) return problem;
  const seconds = String(problem.retryAfterSeconds ?? '');
  return { ...problem, message: template.replaceAll('{tool}', told.tool).replaceAll('{seconds}', seconds) };
}

function wordsOfCode(code: string, words: RuntimeWords): string | undefined {
  if (code === 'rate_limited') return words.rate_limited;
  return code === 'unavailable' ? words.unavailable : undefined;
}
