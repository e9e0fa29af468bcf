import { basename } from 'node:path';
import { z } from 'zod';
import type { Json } from '../domain/json.ts';
import type { FileProblem } from '../suite/suite.ts';
import { type TracedCall, type TracedConversation, type TracedMessage, type TracedReply, unwrapped, withReplies } from './conversation.ts';
import { type JsonDocument, problemIn, refuseIfAny } from './documents.ts';

const part = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });
const content = z.union([z.string(), z.array(part).max(1_000), z.null()]).optional();
const call = z.looseObject({
  id: z.string().optional(),
  function: z.looseObject({ name: z.string().min(1), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
});

/** One message in the shape of OpenAI's chat completions. */
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('assistant'), content, tool_calls: z.array(call).max(1_000).nullish() }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string() }),
]);
type ChatLine = z.output<typeof message>;

const conversation = z.looseObject({ messages: z.array(message).min(1).max(10_000), created: z.number().optional() });

/** Whether a document is a conversation, or a message of one. */
export function isChat({ value }: JsonDocument): boolean {
  return typeof value === 'object' && value !== null && ('messages' in value || 'role' in value);
}

/** Conversations in the shape of OpenAI's chat: `{"messages": [...]}` on each line, or one message on each line of one conversation. @throws {SuiteFileError} */
export function chatConversations(documents: readonly JsonDocument[]): readonly TracedConversation[] {
  const problems: FileProblem[] = [];
  const found: TracedConversation[] = [];
  const loose: { readonly document: JsonDocument; readonly message: ChatLine }[] = [];
  for (const document of documents) {
    const { value } = document;
    if ('messages' in (value as object)) {
      const read = conversation.safeParse(value);
      if (read.success) found.push(conversationOf(document, read.data.messages, read.data.created ?? null));
      else problems.push(...problemsOf(document, read.error));
    } else {
      const read = message.safeParse(value);
      if (read.success) loose.push({ document, message: read.data });
      else problems.push(...problemsOf(document, read.error));
    }
  }
  refuseIfAny(problems);
  const [first] = loose;
  if (first)
    found.push(
      conversationOf(
        first.document,
        loose.map(({ message: one }) => one),
        null,
      ),
    );
  return found;
}

function problemsOf(document: JsonDocument, error: z.ZodError): readonly FileProblem[] {
  return error.issues.slice(0, 3).map(({ path, message: said }) =>
    problemIn(
      document,
      path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
      said,
    ),
  );
}

function conversationOf({ file, line }: JsonDocument, messages: readonly ChatLine[], created: number | null): TracedConversation {
  const replies = new Map<string, TracedReply>();
  const left = new Set<string>();
  const told: TracedMessage[] = [];
  const textOf = (value: ChatLine['content']): string => {
    if (typeof value === 'string') return value;
    return (value ?? [])
      .flatMap(({ type, text, refusal }) => {
        if (text === undefined && refusal === undefined) left.add(`a part of a message that is no text (${type})`);
        return text ?? refusal ?? [];
      })
      .join('\n');
  };
  for (const one of messages) {
    if (one.role === 'tool') replies.set(one.tool_call_id, { result: unwrapped(textOf(one.content)), problem: null });
    else if (one.role === 'user') told.push({ role: 'user', text: textOf(one.content) });
    else if (one.role === 'assistant') told.push({ role: 'assistant', text: textOf(one.content), calls: (one.tool_calls ?? []).map(callOf) });
  }
  const name = basename(file).replace(/\.jsonl?$/, '');
  return {
    id: `${name}-${line}`,
    of: `${basename(file)}, line ${line}`,
    startedAt: created === null || !Number.isFinite(created) || Math.abs(created) > 8e12 ? null : new Date(created * 1000).toISOString(),
    messages: withReplies(told, replies),
    left: [...left],
  };
}

function callOf({ id = '', function: { name, arguments: args } }: z.output<typeof call>): TracedCall {
  return { id, tool: name, args: typeof args === 'string' ? unwrapped(args === '' ? '{}' : args) : (args as Json), reply: null };
}
