import type { Json, JsonObject } from '../domain/json.ts';
import { isObject, printable } from '../domain/text/bounded.ts';
import type { LoadedEnvironment } from '../environments/world.ts';
import { titleOf } from '../suite/imported-files.ts';
import type { TracedCall, TracedConversation } from './conversation.ts';

/** A case of a conversation before anything in it is hidden. Each part is content, and is redacted. */
export interface CaseParts {
  readonly title: string;
  /** Messages of the user. */
  readonly turns: readonly string[];
  readonly steps: readonly ({ readonly call: string; readonly with: JsonObject } | { readonly say: string })[];
  readonly answer: string;
}

/** A conversation of which no case can be drafted; the message says why. */
export class NotDraftableError extends Error {
  override readonly name = 'NotDraftableError';
  readonly code = 'not_draftable';
}

const MAX_TEXT = 100_000;
const MAX_TURNS = 200;
const MAX_CALLS = 1_500;
const CALLS_BY_DEFAULT = 30;
const NOTHING_SAID = '(Nothing was said.)';

/** What was asked, called and answered. @throws {NotDraftableError} */
export function partsOf({ messages }: TracedConversation): CaseParts {
  const from = messages.findIndex(({ role }) => role === 'user');
  if (from < 0)
    throw new NotDraftableError(
      'it holds no message of a user; whoever makes the traces has to capture the content of messages, which is off unless it is asked for',
    );
  const turns: string[] = [];
  const steps: CaseParts['steps'][number][] = [];
  let said: string | null = null;
  let acted = true;
  for (const message of messages.slice(from)) {
    if (message.role === 'user') {
      if (turns.length > 0 && !acted) turns[turns.length - 1] = `${turns.at(-1)}\n\n${message.text}`;
      else {
        if (turns.length > 0) steps.push({ say: said ?? NOTHING_SAID });
        turns.push(message.text);
      }
      said = null;
      acted = false;
      continue;
    }
    acted = true;
    // What is said beside calls is no answer yet.
    if (message.calls.length === 0 && message.text.trim() !== '') said = message.text;
    for (const call of message.calls) steps.push({ call: call.tool, with: argumentsOf(call) });
  }
  const parts = { title: titleOf((turns[0] ?? '').replace(/\s+/g, ' ').trim()) || 'Drafted from a trace', turns, steps, answer: said ?? '' };
  const calls = steps.filter((step) => 'call' in step).length;
  if (turns.length > MAX_TURNS) throw new NotDraftableError(`it has ${turns.length} messages of the user; a case has at most ${MAX_TURNS}`);
  if (calls > MAX_CALLS) throw new NotDraftableError(`it has ${calls} calls of tools; a case has at most ${MAX_CALLS}`);
  if ([...turns, parts.answer].some((text) => text.length > MAX_TEXT)) throw new NotDraftableError(`one of its messages is longer than ${MAX_TEXT} characters`);
  if (turns.some((text) => text.trim() === '')) throw new NotDraftableError('a message of its user holds no text');
  return JSON.parse(JSON.stringify(parts), (_key, value: unknown) =>
    typeof value === 'string' ? printable(value, Number.MAX_SAFE_INTEGER) : value,
  ) as CaseParts;
}

/** Arguments of a call. @throws {NotDraftableError} for what is no object. */
export function argumentsOf({ tool, args }: TracedCall): JsonObject {
  if (!isObject(args)) throw new NotDraftableError(`the arguments of a call of ${printable(tool, 100)} are no JSON object`);
  return args;
}

/** What of a case the trace could not tell. */
export function questionsOf(parts: CaseParts, { environment }: Pick<LoadedEnvironment, 'environment'>): readonly JsonObject[] {
  const changing = parts.steps.flatMap((step, index) => {
    const tool = 'call' in step ? environment.tools.find(({ name }) => name === step.call) : undefined;
    return tool && tool.effect !== 'read' ? [`${tool.name} (step ${index + 1})`] : [];
  });
  const calls =
    changing.length === 0 ? 'The trace has no call that changes anything.' : `Calls that may have changed something: ${printable(changing.join(', '), 1_000)}.`;
  const ask = (about: string, asks: string): JsonObject => ({ about, asks, answer: '' });
  return [
    ask(
      'content',
      'Is there nothing in request, steps, answer and cassette that may not be kept? Secrets and mail addresses are replaced; names have no shape, and only those that suite.yaml tells of are.',
    ),
    ask('state', 'What did the systems of record hold when this began, beside the seed? The trace shows only what the agent read.'),
    ask('effects', `Which changes were right? ${calls}`),
    ask('forbidden', 'Which changes would have been wrong, and deserve a name in reports?'),
    ...(parts.answer === '' ? [ask('answer', 'What is the right answer to the user? The trace ends without one; write "reference.answer".')] : []),
  ];
}

/** The case's file as data, in the order in which people read it. `own`: keys that the suite does not give. */
export function caseData(
  parts: CaseParts,
  of: string,
  questions: readonly JsonObject[],
  own: { readonly clock?: string; readonly user?: JsonObject },
): JsonObject {
  const [request = '', ...more] = parts.turns;
  const calls = parts.steps.filter((step) => 'call' in step).length;
  return {
    title: parts.title,
    kind: 'drafted',
    tags: ['drafted'],
    ...(more.length === 0 ? { request } : { turns: parts.turns }),
    ...(own.user && { user: own.user }),
    ...(own.clock !== undefined && { clock: own.clock }),
    ...(calls > CALLS_BY_DEFAULT && { budget: { calls } }),
    review: { of, questions },
    reference: { steps: parts.steps as unknown as Json, answer: parts.answer },
  };
}
