import type { FileProblem } from '../suite/suite.ts';
import { chatConversations, isChat } from './chat-lines.ts';
import type { TracedConversation } from './conversation.ts';
import { problemIn, readDocuments, refuseIfAny } from './documents.ts';
import { tracedConversations } from './gen-ai.ts';
import { isOtlp, spansOf } from './otlp.ts';

/** So many cases are drafted at once. */
const MAX_CONVERSATIONS = 500;

/**
 * Conversations in files: exports of OpenTelemetry in OTLP's JSON, whole or a line at a time, with spans (and log records) of its GenAI conventions; or messages in the shape of
 * OpenAI's chat. Log records may stand in a file of their own beside the spans that they belong to.
 *
 * @throws {SuiteFileError} with file, line and column of what cannot be read
 */
export async function readConversations(files: readonly string[]): Promise<readonly TracedConversation[]> {
  const chats: TracedConversation[] = [];
  const exports: Parameters<typeof spansOf>[0][number][] = [];
  const problems: FileProblem[] = [];
  for (const file of files) {
    const documents = await readDocuments(file);
    chats.push(...chatConversations(documents.filter((one) => !isOtlp(one) && isChat(one))));
    for (const one of documents) {
      if (isOtlp(one)) exports.push(one);
      else if (!isChat(one))
        problems.push(problemIn(one, [], 'expected "resourceSpans" (an export of OpenTelemetry), "messages" (a conversation) or "role" (a message of one)'));
    }
  }
  refuseIfAny(problems);
  const conversations = [...chats, ...tracedConversations(spansOf(exports))];
  const [file = ''] = files;
  const whole = (message: string) => refuseIfAny([{ file, line: null, column: null, message, suggestion: null }]);
  if (conversations.length === 0)
    whole('there is no conversation in it; expected spans with gen_ai.operation.name, or messages in the shape of chat completions');
  if (conversations.length > MAX_CONVERSATIONS)
    whole(`there are ${conversations.length} conversations; at most ${MAX_CONVERSATIONS} become drafts at once: choose those that a person will review`);
  return conversations;
}
