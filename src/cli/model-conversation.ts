import type { TrialView } from '../client/api.ts';
import type { Json } from '../domain/json.ts';
import type { ModelCall } from '../domain/model.ts';
import { isObject } from '../domain/text/bounded.ts';
import { costText } from '../report/model-text.ts';
import { plainText } from '../report/plain-text.ts';
import type { ConversationEntry } from '../store/conversation.ts';
import type { Paint } from './host.ts';

/** What was said between models and whoever asked them, as it was kept: redacted and bounded. Safe to print. */
export function modelConversationLines({ conversation, modelCalls }: Pick<TrialView, 'conversation' | 'modelCalls'>, paint: Paint): string[] {
  if (conversation.length === 0) return ['no conversation with a model was recorded'];
  const calls = new Map(modelCalls.map((call) => [call.id, call]));
  return conversation.flatMap((entry) => {
    const call = entry.role === 'assistant' ? calls.get(entry.call ?? '') : undefined;
    const who = [entry.who === 'user' ? 'simulated user' : (entry.agent ?? 'agent'), String(entry.seq), entry.role, ...(call ? [callText(call)] : [])];
    return ['', paint('bold', plainText(who.join(', '))), ...bodyLines(entry.body)];
  });
}

function callText({ id, usage, price, latencyMs, tries }: ModelCall): string {
  const tokens = usage === null ? 'tokens not measured' : `${usage.input} tokens in, ${usage.output} out`;
  const cost = costText({ cost: price === null ? null : { [price.currency]: price.amount }, unmeasured: { tokens: 0, cost: 0 } });
  return [id, tokens, `cost ${cost}`, ...(latencyMs === null ? [] : [`${Math.round(latencyMs)} ms`]), ...(tries > 1 ? [`${tries} tries`] : [])].join(', ');
}

function bodyLines({ text = null, calls = [], omitted }: ConversationEntry['body']): string[] {
  if (omitted === true) return ['  (left out: the record of this attempt is full)'];
  const said = typeof text === 'string' && text !== '' ? plainText(text, { lines: 'keep' }).split('\n') : [];
  return [...said.map((line) => `  ${line}`), ...(Array.isArray(calls) ? calls.map((call: Json) => `  ${plainText(toolText(call))}`) : [])];
}

function toolText(call: Json): string {
  return isObject(call) ? `calls ${String(call['tool'])} ${String(call['args'])}` : '';
}
