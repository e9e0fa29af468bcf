import type { Message } from '../record.ts';
import { brokenParts, says } from '../text/says.ts';
import type { ScriptedUser, UserRule } from './simulated-user.ts';

/** What the user does next. */
export type UserReply =
  /** `end`: they leave after it. */
  | { readonly kind: 'say'; readonly text: string; readonly end: boolean }
  /** They leave without a word. */
  | { readonly kind: 'leave' }
  /** The simulated user cannot go on, by no doing of the agent. */
  | { readonly kind: 'fail'; readonly code: string; readonly message: string };

/** Longest part of the agent's words that are looked at; in UTF-16 units. */
const MAX_HEARD = 100_000;

/**
 * What a scripted user answers: a pure function of the script and the conversation so far, so that the same conversation always goes on in the same way. Answered is all
 * that the agent has said since the user's last message.
 */
export function scriptedReply(script: ScriptedUser, messages: readonly Message[]): UserReply {
  const used = new Map<UserRule | 'otherwise', number>();
  let reply: UserReply = { kind: 'leave' };
  for (const heard of heardTexts(messages)) reply = replyTo(script, heard, used);
  return reply;
}

/** What the agent said before each of the user's answers and before the one that is due; what came before the user's first word is no answer to it. */
function heardTexts(messages: readonly Message[]): readonly string[] {
  const texts: string[] = [];
  let since: string[] = [];
  let spoken = false;
  for (const { from, text } of messages) {
    if (from === 'agent') {
      since.push(text.slice(0, MAX_HEARD));
      continue;
    }
    if (spoken) texts.push(since.join('\n\n'));
    spoken = true;
    since = [];
  }
  return [...texts, since.join('\n\n')];
}

function replyTo({ rules, otherwise }: ScriptedUser, heard: string, used: Map<UserRule | 'otherwise', number>): UserReply {
  const use = (rule: UserRule | 'otherwise', say: readonly string[]): string | undefined => {
    const times = used.get(rule) ?? 0;
    used.set(rule, times + 1);
    return say[Math.min(times, say.length - 1)];
  };
  const met = rules.filter((rule) => (used.get(rule) ?? 0) < (rule.times ?? Number.POSITIVE_INFINITY) && meets(rule, heard));
  if (met.length > 0) {
    const texts = met.map((rule) => use(rule, rule.say)).filter((text) => text !== undefined);
    return spoken(
      texts,
      met.some(({ end }) => end === true),
    );
  }
  if ('fail' in otherwise) return { kind: 'fail', code: 'no_rule', message: `no rule of the script answers "${heard.trim().slice(0, 300)}"` };
  const text = use('otherwise', otherwise.say);
  return spoken(text === undefined ? [] : [text], otherwise.end === true);
}

function spoken(texts: readonly string[], end: boolean): UserReply {
  const all = [...new Set(texts)];
  return all.length === 0 ? { kind: 'leave' } : { kind: 'say', text: all.join('\n'), end };
}

function meets({ topic, text, matches }: UserRule, heard: string): boolean {
  if (topic && !topic.some((phrase) => says(heard, phrase))) return false;
  if (text && brokenParts(text, heard).length > 0) return false;
  return matches === undefined || new RegExp(matches, 'iu').test(heard.normalize('NFC'));
}
