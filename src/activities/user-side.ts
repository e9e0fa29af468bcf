import type { WorkflowHandle } from '@temporalio/client';
import type { JsonObject } from '../domain/json.ts';
import type { Message } from '../domain/record.ts';
import type { Store } from '../store/store.ts';
import { hearUpdate, turnId } from '../workflows/messages.ts';
import type { AttemptRef, ConversationEnd } from './contract.ts';
import type { TrialContext } from './trial-context.ts';

/** The user's side of one attempt's conversation, as the host of an agent with code of its own sees it. What is said is stored before the other side hears it. */
export interface UserSide {
  /** How many messages were given out. */
  readonly asked: number;
  /** The message that was given out last, by an earlier worker. */
  again(): Promise<UserMessage>;
  /** The first message; after each {@link tell} that ends a turn, the user's answer to it. Null: the user has no more to say. @throws {ConversationOver} */
  next(): Promise<UserMessage | null>;
  /** What the agent tells the user. */
  tell(text: string, data: JsonObject | null): Promise<void>;
  /** All that was said so far, in order. */
  messages(): Promise<readonly Message[]>;
}

export interface UserMessage {
  /** Number of the user's message, from 1. Answers to questions count. */
  readonly turn: number;
  readonly text: string;
  /** The member of a team that has handed the conversation over with this text; absent: the user says it. */
  readonly from?: string;
}

/** The trial's workflow has ended the conversation, for a reason that is none of the agent's program: whoever runs the agent stops it. */
export class ConversationOver extends Error {
  override readonly name = 'ConversationOver';
  readonly code = 'conversation_over';
  readonly end: ConversationEnd;

  constructor(end: ConversationEnd) {
    super(end.problem?.message ?? end.ending);
    this.end = end;
  }
}

/** A message that the case holds: stored by whoever needs it first, and once. */
export function writtenMessage(turn: number, text: string): Message {
  return { turn, from: 'user', text, data: null };
}

/** The user of a case: the messages that it holds, or a simulated user, who answers in the trial's workflow. */
export function userSide(
  { kase }: Pick<TrialContext, 'kase'>,
  store: Pick<Store, 'addMessage' | 'messages'>,
  trial: Pick<WorkflowHandle, 'executeUpdate'>,
  { trial: id, attempt }: AttemptRef,
  { asked: askedBefore = 0, actor = null }: { readonly asked?: number; readonly actor?: string | null } = {},
): UserSide {
  const messages = () => store.messages(id, attempt);
  let asked = askedBefore;

  const written = async (turn: number): Promise<UserMessage | null> => {
    const text = kase.turns[turn - 1];
    if (text === undefined) return null;
    await store.addMessage(id, attempt, writtenMessage(turn, text));
    return { turn, text };
  };

  const simulated = async (): Promise<UserMessage | null> => {
    const move = await trial.executeUpdate(hearUpdate, { updateId: turnId(attempt, asked - 1), args: [attempt] });
    if (move.kind === 'over') throw new ConversationOver(move.end);
    if (move.kind === 'left') return null;
    const said = (await messages()).find((message) => message.from === 'user' && message.turn === move.turn);
    return { turn: move.turn, text: said?.text ?? '' };
  };

  return {
    get asked() {
      return asked;
    },
    async again() {
      const said = (await messages()).findLast(({ from, operation }) => from === 'user' && operation === undefined);
      return { turn: said?.turn ?? 1, text: said?.text ?? '' };
    },
    next: () => (++asked > 1 && kase.conversation ? simulated() : written(asked)),
    async tell(text, data) {
      // Questions by a tool count as turns, which the host has not seen.
      const turn = (await messages()).findLast(({ from }) => from === 'user')?.turn ?? 1;
      await store.addMessage(id, attempt, { turn, from: 'agent', text, data, ...(actor !== null && { actor }) });
    },
    messages,
  };
}
