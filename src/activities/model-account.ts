import type { ModelRoute } from '../domain/model.ts';
import { type ModelSpending, narrowest, NOTHING_SPENT, spend } from '../domain/model-budget.ts';
import { ModelAccount } from '../gateway/models/account.ts';
import type { AttemptRef } from './contract.ts';
import { tellsModelWait } from './model-wait.ts';
import type { ActivityServices } from './services.ts';
import type { TrialContext } from './trial-context.ts';

/** Longest text of a message that is kept, in UTF-16 units. */
const MAX_TEXT = 100_000;

export interface AccountOf {
  readonly routes: readonly ModelRoute[];
  readonly secrets: { readonly [name: string]: string };
  /** Who of a team; null: the agent is no team. */
  readonly member?: string | null;
}

/** Counts and keeps the model calls of an attempt's agent that asks models itself. `secrets`: what it knows, by name; none of it is kept. */
export async function modelAccount(
  { store, now }: Pick<ActivityServices, 'store' | 'now'>,
  { kase, batch }: Pick<TrialContext, 'kase' | 'batch'>,
  { trial, attempt }: AttemptRef,
  { routes, secrets, member = null }: AccountOf,
): Promise<ModelAccount> {
  const calls = await store.modelCalls(trial, attempt);
  // An agent elsewhere outlives the worker that it began with.
  const messages = calls.length === 0 ? [] : await store.conversation(trial, attempt);
  return new ModelAccount({
    agent: member,
    routes,
    budget: narrowest([kase.budget]),
    redaction: { secrets, addresses: batch.options.addresses ?? 'keep', maxText: MAX_TEXT },
    now,
    before: { calls: calls.filter(({ who }) => who === 'agent'), messages: messages.filter(({ who }) => who === 'agent').length },
    waits: tellsModelWait(store, { trial, attempt }),
    record: (call, messages) => store.addModelCall(trial, attempt, call, messages),
  });
}

/** What the models of an attempt's agents have used so far, of all members of a team together. */
export async function modelSpending(store: Pick<ActivityServices['store'], 'modelCalls'>, { trial, attempt }: AttemptRef): Promise<ModelSpending> {
  const calls = await store.modelCalls(trial, attempt);
  return calls.filter(({ who }) => who === 'agent').reduce((sum, { usage, price }) => spend(sum, usage, price), NOTHING_SPENT);
}
