import { ApplicationFailure } from '@temporalio/common';
import { printable } from '../../domain/text/bounded.ts';
import type { Gateway, OpenSession } from '../../gateway/gateway.ts';
import type { SessionOptions } from '../../gateway/session.ts';
import type { SessionPlace } from '../../gateway/tokens.ts';
import { ModelError } from '../../models/errors.ts';
import type { AgentClock } from '../agent-clock.ts';
import type { ConversationEnd } from '../contract.ts';

const MAX_PROBLEM_LENGTH = 4_000;

export interface AskingOptions extends Pick<SessionOptions, 'models' | 'late'> {
  readonly signal: AbortSignal;
}

type AskingClock = Pick<AgentClock, 'hold' | 'release' | 'mark'>;

/** What an agent's conversation gets, so that its process can ask models. */
export interface Asking {
  readonly door: { readonly token: string; readonly models: OpenSession['models'] };
  /** Ends the conversation: with the attempt, or when a budget of models is used up. */
  readonly signal: AbortSignal;
  /** Given the agent's clock, which stands still while a route's rate is waited for. */
  readonly clock: (clock: AskingClock) => void;
}

/**
 * Opens the gateway for the models of an agent that calls its tools over a channel of its own, while it converses. Without routes or spans nothing comes of it.
 * @throws what `converse` threw, or what a call of a model met: the harness's trouble.
 */
export async function askingModels(
  gateway: Gateway,
  place: SessionPlace,
  { models, late, signal }: AskingOptions,
  converse: (asking: Asking) => Promise<ConversationEnd>,
): Promise<ConversationEnd> {
  if (models.account.routes.length === 0) return converse({ door: { token: '', models: {} }, signal, clock: () => {} });
  const stop = new AbortController();
  let clock: AskingClock | null = null;
  let end: ConversationEnd | null = null;
  let trouble: unknown = null;
  const session = await gateway.open(place, {
    tools: [],
    budget: 0,
    carry: () => Promise.reject(new Error('a module calls its tools by its session')),
    late,
    models,
    events: {
      busy: () => clock?.hold(),
      idle: () => clock?.release(),
      mark: () => clock?.mark() ?? (() => {}),
      exhausted({ code, message }) {
        end ??= { ending: 'budget_exhausted', problem: { code, message: printable(message, MAX_PROBLEM_LENGTH) } };
        stop.abort(new Error(message));
      },
      failed(error) {
        trouble ??= error instanceof ModelError ? ApplicationFailure.nonRetryable(error.message, 'ModelSetup') : error;
        stop.abort(new Error('a call of a model failed'));
      },
    },
  });
  const door = { token: await session.token(), models: session.models };
  models.account.hide('TRIALBED_TOKEN', door.token);
  try {
    return await converse({ door, signal: AbortSignal.any([signal, stop.signal]), clock: (given) => (clock = given) });
  } catch (error) {
    if (signal.aborted) throw error;
    if (trouble !== null) throw trouble;
    if (end !== null) return end;
    throw error;
  } finally {
    await session.close();
    await session.settled();
  }
}
