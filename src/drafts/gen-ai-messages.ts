import { z } from 'zod';
import type { Json } from '../domain/json.ts';
import { isObject } from '../domain/text/bounded.ts';
import { SuiteFileError } from '../suite/suite.ts';
import { type TracedCall, type TracedReply, unwrapped } from './conversation.ts';
import { problemIn } from './documents.ts';
import type { TracedEvent, TracedSpan } from './otlp.ts';

/** A message of a model's conversation as GenAI's conventions have it: what was said, what was called, what was answered. */
export interface GenAiMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly calls: readonly TracedCall[];
}

/** What an inference, or an agent, was told and said. */
export interface Heard {
  readonly input: readonly GenAiMessage[];
  readonly output: readonly GenAiMessage[];
  readonly replies: ReadonlyMap<string, TracedReply>;
  /** Kinds of parts that are no text and were left out. */
  readonly left: readonly string[];
}

/** Attributes of a span, or of the event that has them instead. */
const DETAILS = 'gen_ai.client.inference.operation.details';
const INPUT = 'gen_ai.input.messages';
const OUTPUT = 'gen_ai.output.messages';

const part = z.looseObject({
  type: z.string(),
  content: z.json().optional(),
  id: z.string().nullish(),
  name: z.string().optional(),
  arguments: z.json().optional(),
  response: z.json().optional(),
  result: z.json().optional(),
});
const messages = z.array(z.looseObject({ role: z.string(), parts: z.array(part).max(5_000).optional(), content: z.string().nullish() })).max(10_000);

/** Messages of a span, from its attributes or its events, of the current conventions or those before 1.37. Null: it holds none. @throws {SuiteFileError} */
export function heardIn({ attributes, events, at }: TracedSpan): Heard | null {
  const sources = [{ attributes, at }, ...events.filter(({ name }) => name === DETAILS)];
  const source = sources.find((one) => one.attributes[INPUT] !== undefined || one.attributes[OUTPUT] !== undefined);
  return source ? current(source) : byEvent(events);
}

function current(source: Pick<TracedEvent, 'attributes' | 'at'>): Heard {
  const replies = new Map<string, TracedReply>();
  const left = new Set<string>();
  const side = (name: string) => {
    const written = source.attributes[name];
    if (written === undefined || written === null) return [];
    const read = messages.safeParse(unwrapped(written));
    const { document, path } = source.at(name);
    if (!read.success) {
      const [issue] = read.error.issues;
      const why = typeof written === 'string' ? 'is no list of messages in JSON; was it cut off by a limit of attribute lengths?' : (issue?.message ?? '');
      throw new SuiteFileError([problemIn(document, path, `${name} ${why}`)]);
    }
    return read.data.flatMap((message) => messageOf(message, replies, left));
  };
  return { input: side(INPUT), output: side(OUTPUT).slice(0, 1), replies, left: [...left] };
}

function messageOf({ role, parts, content }: z.output<typeof messages>[number], replies: Map<string, TracedReply>, left: Set<string>): readonly GenAiMessage[] {
  const texts: string[] = content ? [content] : [];
  const calls: TracedCall[] = [];
  for (const one of parts ?? []) {
    if (one.type === 'text') texts.push(typeof one.content === 'string' ? one.content : '');
    else if (one.type === 'tool_call') calls.push({ id: one.id ?? '', tool: one.name ?? '', args: unwrapped((one.arguments ?? {}) as Json), reply: null });
    else if (one.type === 'tool_call_response')
      replies.set(one.id ?? '', { result: unwrapped((one.response ?? one.result ?? one.content ?? null) as Json), problem: null });
    else if (one.type !== 'reasoning') left.add(`a part of a message that is no text (${one.type})`);
  }
  const text = texts.filter((one) => one !== '').join('\n');
  if (role === 'user') return text === '' ? [] : [{ role, text, calls: [] }];
  return role === 'assistant' ? [{ role, text, calls }] : [];
}

/** An event for each message, as before 1.37: in the body of a log record, or in the attributes of an event of the span. */
function byEvent(events: readonly TracedEvent[]): Heard | null {
  const input: GenAiMessage[] = [];
  const output: GenAiMessage[] = [];
  const replies = new Map<string, TracedReply>();
  for (const { name, attributes, body } of events) {
    if (!/^gen_ai\.(?:user|assistant|tool)\.message$|^gen_ai\.choice$/.test(name)) continue;
    const told = body ?? unwrapped(attributes['gen_ai.event.content'] ?? attributes);
    if (!isObject(told)) continue;
    if (name === 'gen_ai.choice') {
      const said = told['message'];
      if (isObject(said) && (told['index'] ?? 0) === 0) output.push({ role: 'assistant', text: textOf(said['content']), calls: callsOf(said['tool_calls']) });
    } else if (name === 'gen_ai.tool.message') {
      if (typeof told['id'] === 'string') replies.set(told['id'], { result: unwrapped(told['content'] ?? null), problem: null });
    } else if (name === 'gen_ai.user.message') input.push({ role: 'user', text: textOf(told['content']), calls: [] });
    else input.push({ role: 'assistant', text: textOf(told['content']), calls: callsOf(told['tool_calls']) });
  }
  return input.length + output.length === 0 ? null : { input, output: output.slice(0, 1), replies, left: [] };
}

function callsOf(value: Json | undefined): readonly TracedCall[] {
  return (Array.isArray(value) ? (value as readonly Json[]) : []).flatMap((one) => {
    const called = isObject(one) ? one['function'] : undefined;
    if (!isObject(one) || !isObject(called) || typeof called['name'] !== 'string') return [];
    return [{ id: typeof one['id'] === 'string' ? one['id'] : '', tool: called['name'], args: unwrapped(called['arguments'] ?? {}), reply: null }];
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
