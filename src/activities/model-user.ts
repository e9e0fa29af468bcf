import type { ChatMessage } from '../domain/chat.ts';
import type { UserReply } from '../domain/conversation/scripted-reply.ts';
import type { ModelUser } from '../domain/conversation/simulated-user.ts';
import { replyOf, userPrompt } from '../domain/conversation/user-words.ts';
import type { Message } from '../domain/record.ts';
import type { Respond } from './answer-user.ts';
import type { UserRequest } from './contract.ts';
import { askModel, type CallModelServices } from './model-agent/ask-model.ts';
import { kept } from './model-agent/keep.ts';

const SIDE = { who: 'user', agent: null } as const;

/**
 * How a user responds who is a model: it is told its brief and what was said, and nothing else. Each call is recorded as the user's own, apart from the agent's. What no
 * try mends is a fault of the user. @throws {ApplicationFailure} that is retried; `ModelSetup` where the test bed's own setup is wrong.
 */
export function modelUser(services: CallModelServices, user: ModelUser, { trial, attempt, turn }: UserRequest): Respond {
  const { store, keeper, failpoint } = services;
  const id = `user-${turn}`;
  // Of each turn: what was heard, and what was said; the brief comes before all of them.
  const at = 2 * (turn - 1);
  return async (messages): Promise<UserReply> => {
    const known = (await store.modelCalls(trial, attempt)).some((call) => call.id === id && call.end === 'replied');
    const stored = known ? (await store.liveConversation(trial, attempt, SIDE))[at] : undefined;
    if (stored?.role === 'assistant') return replyOf(stored.text);
    const heard = asHeard(user, messages);
    const entry = (seq: number, message: ChatMessage) => kept(keeper, { ...SIDE, seq, call: id }, message);
    const [brief] = heard;
    const last = heard.at(-1);
    await store.addConversation(trial, attempt, [...(brief && turn === 2 ? [entry(1, brief)] : []), ...(last ? [entry(at, last)] : [])]);
    const asked = await askModel(services, user.route, { trial, attempt, id, ...SIDE, messages: heard, tools: [] });
    if (asked.kind === 'refused') return { kind: 'fail', code: asked.problem.code, message: asked.problem.message };
    await store.addModelCall(trial, attempt, asked.call, [entry(at + 1, asked.reply)]);
    failpoint('model_replied_before_reported');
    return replyOf(asked.reply.text);
  };
}

/** The conversation from the user's place: what they said is the model's own, and what the agent said was said to it. */
function asHeard(user: ModelUser, messages: readonly Message[]): readonly ChatMessage[] {
  const heard: ChatMessage[] = [{ role: 'system', text: userPrompt(user) }];
  for (const { from, text } of messages) {
    const before = heard.at(-1);
    if (from === 'user') heard.push({ role: 'assistant', text, calls: [] });
    // Models take turns, also where an agent said two things.
    else if (before?.role === 'user') heard[heard.length - 1] = { role: 'user', text: `${before.text}\n\n${text}` };
    else heard.push({ role: 'user', text });
  }
  return heard;
}
