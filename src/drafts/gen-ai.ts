import { basename } from 'node:path';
import { printable } from '../domain/text/bounded.ts';
import { canonicalJson } from '../suite/identity.ts';
import { type TracedCall, type TracedConversation, type TracedMessage, type TracedReply, unwrapped, withReplies } from './conversation.ts';
import { type GenAiMessage, heardIn } from './gen-ai-messages.ts';
import type { TracedSpan } from './otlp.ts';

/** Calls of models by the name of their operation. */
const INFERENCES = ['chat', 'generate_content', 'text_completion'];
const MAX_ANCESTORS = 200;

/**
 * Conversations in spans of OpenTelemetry's GenAI conventions: those of one `gen_ai.conversation.id`, else of one trace. Of agents that call each other it is the one that the
 * user talks with. Calls of tools come from the messages and from `execute_tool` spans, which tell what failed.
 */
export function tracedConversations(spans: readonly TracedSpan[]): readonly TracedConversation[] {
  const named = new Map<string, string>();
  for (const { trace, attributes } of spans) {
    const id = attributes['gen_ai.conversation.id'];
    if (typeof id === 'string' && !named.has(trace)) named.set(trace, id);
  }
  const groups = Map.groupBy(spans, ({ trace }) => named.get(trace) ?? trace);
  return [...groups.values()].flatMap((group) => conversationOf(group) ?? []);
}

/** Null: nothing in it is of GenAI. */
function conversationOf(group: readonly TracedSpan[]): TracedConversation | null {
  const byId = new Map(group.map((one) => [`${one.trace}/${one.span}`, one]));
  const depth = (one: TracedSpan): number => {
    let agents = 0;
    let at: TracedSpan | undefined = one;
    for (let step = 0; step < MAX_ANCESTORS && at && at.parent !== ''; step++) {
      at = byId.get(`${at.trace}/${at.parent}`);
      if (at && operationOf(at) === 'invoke_agent') agents++;
    }
    return agents;
  };
  const ordered = [...group].sort((a, b) => ((a.startedAt ?? 0n) < (b.startedAt ?? 0n) ? -1 : (a.startedAt ?? 0n) > (b.startedAt ?? 0n) ? 1 : 0));
  const told = ordered.flatMap((one) => {
    const operation = operationOf(one);
    if (operation === null) return [];
    const heard = operation === 'execute_tool' ? null : heardIn(one);
    return [{ span: one, operation, heard, depth: depth(one) }];
  });
  const [first] = told;
  if (!first) return null;
  const heard = told.filter((one) => one.heard !== null);
  const inferences = heard.filter(({ operation }) => INFERENCES.includes(operation));
  const speaking = inferences.length > 0 ? inferences : heard;
  const least = Math.min(...speaking.map((one) => one.depth));
  const own = speaking.filter((one) => one.depth === least);
  let history: readonly GenAiMessage[] = [];
  const replies = new Map<string, TracedReply>();
  const left = new Set<string>();
  for (const { heard: one } of own) {
    if (one === null) continue;
    history = [...joined(history, one.input), ...one.output];
    for (const [id, reply] of one.replies) replies.set(id, reply);
    for (const what of one.left) left.add(what);
  }
  const others = speaking.length - own.length;
  if (others > 0) left.add(`${others} calls of models by agents that the first one called`);
  // A tool that an agent behind the first one called is no call of its own.
  const limit = inferences.length > 0 ? least : least + 1;
  const tools = told.filter((one) => one.operation === 'execute_tool' && (own.length === 0 || one.depth <= limit)).map((one) => toolSpan(one.span));
  const messages = withReplies(withSpans(history, tools), replies);
  const { span } = first;
  const { document } = span.at();
  return {
    id: `trace-${span.trace.replace(/[^A-Za-z0-9]/g, '').slice(0, 16) || 'unnamed'}`,
    of: `${basename(document.file)}, trace ${span.trace}`,
    startedAt: timeOf(ordered.find(({ startedAt }) => startedAt !== null)?.startedAt ?? null),
    messages,
    left: [...left],
  };
}

function operationOf({ attributes }: TracedSpan): string | null {
  const name = attributes['gen_ai.operation.name'];
  if (typeof name === 'string') return name;
  // Without its name an operation is known by what it tells.
  if (attributes['gen_ai.tool.call.arguments'] !== undefined) return 'execute_tool';
  return attributes['gen_ai.input.messages'] !== undefined || attributes['gen_ai.request.model'] !== undefined ? 'chat' : null;
}

/** A call of a model mostly repeats what was said before: what is new in it is added. */
function joined(history: readonly GenAiMessage[], input: readonly GenAiMessage[]): readonly GenAiMessage[] {
  const [before, now] = [history.map((one) => canonicalJson(one)), input.map((one) => canonicalJson(one))];
  for (let shared = Math.min(before.length, now.length); shared > 0; shared--) {
    if (before.slice(-shared).every((text, index) => text === now[index])) return [...history, ...input.slice(shared)];
  }
  return [...history, ...input.filter((_one, index) => !before.includes(now[index] ?? ''))];
}

function toolSpan({ attributes, failed, message }: TracedSpan): TracedCall {
  const text = (name: string) => (typeof attributes[name] === 'string' ? attributes[name] : '');
  const result = attributes['gen_ai.tool.call.result'];
  const error = text('error.type') || (failed ? 'tool_error' : '');
  const problem = error === '' ? null : { code: printable(error, 200), message: printable(message || 'The trace says no more.', 2_000) };
  return {
    id: text('gen_ai.tool.call.id'),
    tool: text('gen_ai.tool.name'),
    args: unwrapped(attributes['gen_ai.tool.call.arguments'] ?? {}),
    reply: problem === null && result === undefined ? null : { result: unwrapped(result ?? null), problem },
  };
}

/** Calls of messages with what their spans tell; calls of which there is nothing but a span come before the last thing that was said. */
function withSpans(history: readonly GenAiMessage[], spans: readonly TracedCall[]): readonly TracedMessage[] {
  const unused = [...spans];
  const take = ({ id, tool }: TracedCall): TracedCall | undefined => {
    const at = unused.findIndex((one) => (one.id !== '' && id !== '' ? one.id === id : one.tool === tool));
    return at < 0 ? undefined : unused.splice(at, 1)[0];
  };
  const messages = history.map(
    ({ role, text, calls }): TracedMessage =>
      role === 'user' ? { role, text } : { role, text, calls: calls.map((call) => ({ ...call, reply: take(call)?.reply ?? call.reply })) },
  );
  if (unused.length === 0) return messages;
  const at = messages.at(-1)?.role === 'assistant' ? messages.length - 1 : messages.length;
  return [...messages.slice(0, at), { role: 'assistant', text: '', calls: unused }, ...messages.slice(at)];
}

function timeOf(nanos: bigint | null): string | null {
  if (nanos === null || nanos <= 0n || nanos > 8_000_000_000_000_000_000n) return null;
  return new Date(Number(nanos / 1_000_000n)).toISOString();
}
