import type { CallRef, ToolPlan } from '../activities/contract.ts';
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

/** What an agent is told whose call waits for an approval, and how it learns what becomes of it. */
export function awaitingProblem({ idempotency }: CallRef, tools: { readonly [name: string]: ToolPlan }): OperationProblem {
  const lookup = Object.entries(tools).find(([, tool]) => tool.looksUp)?.[0];
  const ways = [
    ...(lookup === undefined ? [] : [`ask ${lookup} for it`]),
    ...(idempotency === null ? [] : ['make the same call with its idempotency key again']),
  ];
  const how = ways.length === 0 ? '' : ` To learn what became of it, ${ways.join(' or ')}.`;
  return { code: 'awaiting_approval', message: `The call waits for an approval and has had no effect yet.${how}` };
}

function wordsOfCode(code: string, words: RuntimeWords): string | undefined {
  if (code === 'rate_limited') return words.rate_limited;
  return code === 'unavailable' ? words.unavailable : undefined;
}
