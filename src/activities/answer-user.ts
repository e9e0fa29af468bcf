import { createContext, Script } from 'node:vm';
import type { Case } from '../domain/case.ts';
import { scriptedReply, type UserReply } from '../domain/conversation/scripted-reply.ts';
import type { ScriptedUser } from '../domain/conversation/simulated-user.ts';
import type { JsonObject } from '../domain/json.ts';
import type { OperationProblem } from '../domain/operation.ts';
import type { Message } from '../domain/record.ts';
import { isObject, printable } from '../domain/text/bounded.ts';
import type { World } from '../environments/world.ts';
import type { Store } from '../store/store.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import type { UserMove, UserRequest } from './contract.ts';
import { writtenMessage } from './user-side.ts';

/** While a pattern of a script is tried, a worker does nothing else. */
const SCRIPT_LIMIT_MS = 2_000;

/** Where a conversation is kept. */
export type Conversation = Pick<Store, 'addMessage' | 'messages'>;

export interface AnswerServices {
  readonly store: Conversation;
  readonly failpoint: (name: string) => void;
}

/** What a user says to a conversation so far. */
export type Respond = (messages: readonly Message[]) => Promise<UserReply>;

/**
 * Lets a case's simulated user hear what the agent has said or asked, and answer. What is said is stored before anybody hears of it; asked again for the same turn, the
 * same conversation is answered. A question is settled in the ledger, its answer being the call's result.
 */
export async function answerUser(
  { store, failpoint }: AnswerServices,
  { ledger }: Pick<World, 'ledger'>,
  kase: Case,
  request: UserRequest,
  respond: Respond,
): Promise<UserMove> {
  const { trial, attempt, turn, operation, last } = request;
  const startedAt = performance.now();
  const messages = await withFirst(store, kase, request);
  const before = messages.filter((message) => message.from === 'agent' || message.turn < turn);
  const asked = operation !== null && before.some((message) => message.operation === operation);
  const question: readonly Message[] =
    operation === null || asked ? [] : [{ turn: turn - 1, from: 'agent', ...(await questionOf(ledger, operation)), operation }];
  for (const message of question) await store.addMessage(trial, attempt, message);
  const settle = async (end: { readonly state: 'committed' | 'failed'; readonly result?: JsonObject; readonly problem?: OperationProblem }) => {
    if (operation !== null) await ledger.settle(operation, 1, { ...end, durationMs: performance.now() - startedAt });
  };
  const reply = await respond([...before, ...question]);
  if (reply.kind === 'fail') {
    const problem = { code: reply.code, message: printable(reply.message, MAX_PROBLEM_LENGTH) };
    await settle({ state: 'failed', problem });
    return { kind: 'failed', problem };
  }
  if (reply.kind === 'leave') {
    await settle({ state: 'failed', problem: USER_LEFT });
    return { kind: 'left' };
  }
  if (last && !reply.end) return { kind: 'over_budget' };
  await store.addMessage(trial, attempt, { turn, from: 'user', text: reply.text, ...(operation !== null && { operation }) });
  failpoint('user_spoke_before_ledger');
  await settle({ state: 'committed', result: { answer: reply.text } });
  return { kind: 'said', leaves: reply.end };
}

const USER_LEFT = { code: 'user_left', message: 'The user has left the conversation.' };

/** How a scripted user responds. @throws {Error} for a case that has none. */
export function scripted({ id, conversation }: Case): Respond {
  if (conversation?.user !== 'script') throw new Error(`case ${id} has no scripted user`);
  return async (messages) => scriptedInTime(conversation, messages);
}

/** A pattern that tries without end on what an agent wrote must not take the worker's other trials with it. */
function scriptedInTime(script: ScriptedUser, messages: readonly Message[]): UserReply {
  let reply: UserReply | null = null;
  const work = () => {
    reply = scriptedReply(script, messages);
  };
  try {
    WORK.runInContext(createContext({ work }), { timeout: SCRIPT_LIMIT_MS });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  }
  const message = `a pattern of the script took more than ${SCRIPT_LIMIT_MS / 1000} s; write "matches" so that no repetition stands within another`;
  return reply ?? { kind: 'fail', code: 'script_timeout', message };
}

const WORK = new Script('work()');

/** What was said. An agent may ask before it has read a word, and is answered by somebody who has said the first one. */
async function withFirst(store: Conversation, { turns }: Case, { trial, attempt }: UserRequest): Promise<readonly Message[]> {
  const messages = await store.messages(trial, attempt);
  if (messages.some(({ from }) => from === 'user')) return messages;
  await store.addMessage(trial, attempt, writtenMessage(1, turns[0] ?? ''));
  return store.messages(trial, attempt);
}

/** What is asked, and by whom of a team. */
async function questionOf(ledger: World['ledger'], operation: string): Promise<Pick<Message, 'text' | 'actor'>> {
  const row = await ledger.read(operation);
  const question = isObject(row?.args) ? row.args['question'] : null;
  return { text: typeof question === 'string' ? question : '', ...(row?.actor !== undefined && { actor: row.actor }) };
}
