import type { CassetteModels, ModelEntry, ModelKey } from '../domain/cassette.ts';
import type { ChatMessage } from '../domain/chat.ts';
import { printable, quote } from '../domain/text/bounded.ts';
import { canonicalJson } from '../suite/identity.ts';
import { differences, differenceText } from './differences.ts';
import { comparableMessage, type ModelInput, modelKey } from './model-key.ts';

/** Longest text that says why there is no reply, in UTF-16 units. */
const MAX_MESSAGE = 1_500;
const SHOWN = 3;
const PARTS: { readonly [part in keyof ModelKey]: string } = {
  route: 'route',
  parameters: 'parameters',
  history: 'what was said',
  context: 'what tools told',
  tools: 'tools',
  scope: 'permission scope',
  generation: 'generation of the environment',
  world: 'state of the world',
};

type Reply = Extract<ChatMessage, { readonly role: 'assistant' }>;

/** The recorded reply to exactly this input; else why there is none, with the nearest one. */
export function recordedModelReply(
  { variant, models }: { readonly variant: string; readonly models: CassetteModels },
  input: ModelInput,
): { readonly reply: Reply; readonly entry: ModelEntry } | { readonly miss: string } {
  const { key, inputs } = modelKey(input);
  const wanted = canonicalJson(key);
  const entry = models.replies.find((one) => canonicalJson(one.key) === wanted);
  const reply = entry && models.conversation[entry.at - 1];
  if (entry && reply?.role === 'assistant') return { reply, entry };
  return { miss: printable(missText(variant, models, { key, inputs, messages: input.messages }), MAX_MESSAGE) };
}

function missText(
  variant: string,
  models: CassetteModels,
  { key, inputs, messages }: { readonly key: ModelKey; readonly inputs: CassetteModels['inputs']; readonly messages: readonly ChatMessage[] },
): string {
  const names = Object.keys(PARTS) as (keyof ModelKey)[];
  const other = (entry: ModelEntry) => names.filter((name) => entry.key[name] !== key[name]);
  const said = messages.map((message) => canonicalJson(comparableMessage(message)));
  const before = models.conversation.map((message) => canonicalJson(comparableMessage(message)));
  const firstOther = (entry: ModelEntry) => {
    const last = Math.max(said.length, entry.at - 1);
    for (let at = 0; at < last; at++) if (said[at] !== (at < entry.at - 1 ? before[at] : undefined)) return at;
    return last;
  };
  // Of those that differ in as few parts, the one with which most of the conversation is shared.
  const [nearest] = models.replies.toSorted((a, b) => other(a).length - other(b).length || firstOther(b) - firstOther(a));
  if (!nearest) return `Cassette ${variant} holds no reply of a model.`;
  const told = other(nearest).map((name) => {
    if (name === 'history' || name === 'context') return messageDifference(models.conversation, messages, firstOther(nearest), nearest.at - 1);
    const [recorded, now] = [models.inputs[nearest.key[name]], inputs[key[name]]];
    const values = recorded === undefined || now === undefined ? [] : differences(recorded, now, SHOWN).map(differenceText);
    return values.length > 0 ? `${PARTS[name]} (${values.join(', ')})` : `${PARTS[name]} (${nearest.key[name]}, now ${key[name]})`;
  });
  const place = models.replies.indexOf(nearest) + 1;
  return `Cassette ${variant} holds no reply to this call of the model; the nearest is reply ${place}, recorded with another ${[...new Set(told)].join('; ')}. No model was asked.`;
}

/** The first message that is another one, from a little before the place where it differs. */
function messageDifference(recorded: readonly ChatMessage[], now: readonly ChatMessage[], at: number, known: number): string {
  const [before, after] = [at < known ? recorded[at] : undefined, now[at]].map((message) => message && { role: message.role, text: oneLine(message) });
  let same = 0;
  if (before && after) while (same < before.text.length && before.text[same] === after.text[same]) same++;
  const shown = (message: typeof before) => (message === undefined ? 'none' : `${message.role} ${quote(excerpt(message.text, same))}`);
  return `message ${at + 1}: ${shown(before)}, now ${shown(after)}`;
}

const BEFORE = 20;
const EXCERPT = 80;

function excerpt(text: string, from: number): string {
  const start = Math.max(0, from - BEFORE);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + EXCERPT)}${text.length > start + EXCERPT ? '…' : ''}`;
}

function oneLine(message: ChatMessage): string {
  const calls = message.role === 'assistant' ? message.calls.map(({ tool, args }) => `${tool} ${args}`) : [];
  return [...(message.text ? [message.text] : []), ...calls].join(', ').replace(/\s+/g, ' ');
}
