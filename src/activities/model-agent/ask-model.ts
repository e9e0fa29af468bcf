import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ChatMessage } from '../../domain/chat.ts';
import { type ModelCall, type ModelRoute, priceOf } from '../../domain/model.ts';
import type { OperationProblem } from '../../domain/operation.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { ToolSchema } from '../../environments/world.ts';
import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import type { Store } from '../../store/store.ts';
import { MAX_PROBLEM_LENGTH } from '../check-call.ts';
import type { AttemptRef } from '../contract.ts';
import { tellsModelWait } from '../model-wait.ts';
import type { Keeper } from './keep.ts';

export interface CallModelServices {
  readonly store: Store;
  readonly models: ModelClient;
  readonly keeper: Keeper;
  readonly now: () => Date;
  readonly failpoint: (name: string) => void;
}

/** One call of a model, on behalf of an agent or of a simulated user. */
export interface Asking extends AttemptRef, Pick<ModelCall, 'id' | 'who' | 'agent'> {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSchema[];
  /** Time for the reply beside the route's own, milliseconds. Absent: none. */
  readonly limitMs?: number;
}

export type Asked =
  | { readonly kind: 'replied'; readonly reply: Extract<ChatMessage, { role: 'assistant' }>; readonly call: ModelCall }
  /** The provider will not take it, or the time was over (`out_of_time`); for a simulated user, also trouble that no try mended. */
  | { readonly kind: 'refused'; readonly problem: OperationProblem };

/**
 * One try of a call. What failed for good is recorded here; a reply is for the caller to record, with what it says.
 * @throws {ApplicationFailure} that is retried where the provider is in trouble; `ModelSetup` where no try can help.
 */
export async function askModel({ models, store, now }: CallModelServices, route: ModelRoute, asking: Asking): Promise<Asked> {
  const { trial, attempt, id, who, agent, messages, tools, limitMs } = asking;
  const tries = activityInfo().attempt;
  const about: Omit<ModelCall, 'reported' | 'usage' | 'price' | 'latencyMs' | 'end' | 'problem' | 'at'> = {
    ...{
      id,
      who,
      agent,
      source: 'loop' as const,
      route: route.name,
      url: route.url,
      model: route.model,
      parameters: route.parameters,
      seed: route.seed,
      tries,
    },
  };
  try {
    const limit = limitMs === undefined ? {} : { limitMs };
    const waits = tellsModelWait(store, asking);
    const { text, calls, reported, usage, latencyMs } = await models.ask(route, { messages, tools }, { signal: cancellationSignal(), waits, ...limit });
    const price = priceOf(usage, route.prices);
    const call: ModelCall = { ...about, reported, usage, price, latencyMs, end: 'replied', problem: null, at: now().toISOString() };
    return { kind: 'replied', reply: { role: 'assistant', text, calls }, call };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const last = error.kind !== 'passing' || tries > route.retries;
    const problem = { code: error.code, message: printable(error.message, MAX_PROBLEM_LENGTH) };
    if (!last && error.retryAfterMs !== null) await store.setModelWait(trial, attempt, error.retryAfterMs).catch(() => undefined);
    if (last) {
      const end = error.kind === 'refused' ? 'refused' : 'failed';
      await store.addModelCall(trial, attempt, { ...about, reported: null, usage: null, price: null, latencyMs: null, end, problem, at: now().toISOString() });
    }
    if (error.kind === 'refused' || (last && error.kind === 'passing' && who === 'user')) return { kind: 'refused', problem };
    throw failureOf(error, problem.message, last);
  }
}

/** Trouble of a provider or of its setup is never the agent's. */
function failureOf({ kind, retryAfterMs }: ModelError, message: string, last: boolean): ApplicationFailure {
  const type = kind === 'setup' ? 'ModelSetup' : 'ModelUnavailable';
  return ApplicationFailure.create({ message, type, nonRetryable: last, ...(retryAfterMs !== null && { nextRetryDelay: retryAfterMs }) });
}
