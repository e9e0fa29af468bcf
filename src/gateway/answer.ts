import type { OperationProblem } from '../domain/operation.ts';
import type { CallResult } from '../environments/agent.ts';

/** What a client is told of a call. Without an operation: it never became one, and is in no record. */
export interface CallAnswer extends Omit<CallResult, 'operation'> {
  readonly operation: string | null;
}

/** A refusal of the gateway itself. */
export function refusal(code: string, message: string): CallAnswer {
  return { operation: null, state: 'rejected', result: null, problem: { code, message } };
}

/** Another worker goes on with the agent's calls in a moment. */
export const AWAY = refusal('away', 'The worker of this trial is being replaced; send the same request again in a moment. One with a call id stays one call.');

/** Of the door's own refusals. */
const OF_REFUSAL: { readonly [code: string]: number } = {
  away: 503,
  invalid_call_id: 400,
  invalid_json: 400,
  unauthorized: 401,
  token_ended: 401,
  budget_exhausted: 403,
  wrong_host: 403,
  not_found: 404,
  unknown_tool: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  conversation_ended: 410,
  door_closed: 410,
  payload_too_large: 413,
  too_many_calls: 429,
  harness: 500,
};

/** Of tools' failures that have one by custom; a tool may name its others as it likes. */
const OF_FAILURE: { readonly [code: string]: number } = { payload_too_large: 413, rate_limited: 429, unavailable: 503 };

const BY_STATE: { readonly [state in CallAnswer['state']]: number } = {
  committed: 200,
  awaiting_approval: 202,
  denied: 403,
  failed: 409,
  rejected: 422,
  unknown: 504,
};

/** HTTP status of an answer: by its state, and for refusals and some failures by the problem's code. A call of unknown outcome is always 504. */
export function statusOf({ state, problem }: CallAnswer): number {
  const byCode = state === 'rejected' ? OF_REFUSAL : state === 'failed' ? OF_FAILURE : {};
  return byCode[problem?.code ?? ''] ?? BY_STATE[state];
}

/** Seconds after which the call may be tried again, where that is known. */
export function retryAfter(problem: OperationProblem | null): number | null {
  if (problem?.code === 'too_many_calls' || problem === AWAY.problem) return 1;
  return problem?.retryAfterSeconds === undefined ? null : Math.ceil(problem.retryAfterSeconds);
}
