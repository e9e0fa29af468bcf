import type { ChatMessage } from '../../domain/chat.ts';
import type { ModelCall } from '../../domain/model.ts';
import type { ConversationEntry } from '../../store/conversation.ts';
import type { Origin, Store } from '../../store/store.ts';
import type { ModelStep } from '../model-contract.ts';
import { originOf } from '../origins.ts';
import type { TrialContext } from '../trial-context.ts';

/** A reply that the model gave where the attempt goes on from, with the call that it answered. */
export interface RecordedReply {
  readonly reply: Extract<ChatMessage, { role: 'assistant' }>;
  readonly call: ModelCall;
}

/** Forks of forks that are followed to where a reply was given. */
const MAX_DEPTH = 20;

/**
 * The model's reply of a step whose calls of tools are recorded: a model that is asked again may say something else. Null: the step lies beyond, another agent acts, or
 * nothing was kept of it; the model is then asked.
 */
export async function recordedReply(
  store: Store,
  context: Pick<TrialContext, 'batch' | 'trial'>,
  { trial, attempt, step, calls }: Pick<ModelStep, 'trial' | 'attempt' | 'step' | 'calls'>,
  place: Pick<ConversationEntry, 'who' | 'agent' | 'seq'>,
): Promise<RecordedReply | null> {
  let origin = await originOf({ store }, context, { trial, attempt });
  for (let depth = 0; origin && calls < origin.calls && depth < MAX_DEPTH; depth++) {
    const { source }: Origin = origin;
    if ((await store.trial(source.trial))?.agentHash !== context.trial.agentHash) return null;
    const call = (await store.modelCalls(source.trial, source.attempt)).find(({ id }) => id === `agent-${step}`);
    const reply = call && (await replyAt(store, source, place));
    if (call && reply) return { reply, call };
    origin = await store.origin(source.trial, source.attempt);
  }
  return null;
}

/** As it was where that still stands, else what is kept of it. */
async function replyAt(
  store: Store,
  { trial, attempt }: Origin['source'],
  { who, agent, seq }: Pick<ConversationEntry, 'who' | 'agent' | 'seq'>,
): Promise<RecordedReply['reply'] | null> {
  const exact = (await store.liveConversation(trial, attempt, { who, agent }))[seq - 1];
  if (exact) return exact.role === 'assistant' ? exact : null;
  const entry = (await store.conversation(trial, attempt)).find((one) => one.who === who && one.agent === agent && one.seq === seq);
  if (entry?.role !== 'assistant' || 'omitted' in entry.body) return null;
  const { text = null, calls = [] } = entry.body as unknown as Partial<RecordedReply['reply']>;
  return { role: 'assistant', text, calls };
}
