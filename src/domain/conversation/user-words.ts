import type { ModelUser } from './simulated-user.ts';
import type { UserReply } from './scripted-reply.ts';

/** Changes with every change of {@link userPrompt}. */
export const USER_WORDS = 1;

/** With which a simulated user says that they leave. */
const END = '[END]';

/** What a model is told that speaks as the user: the brief, and how a user speaks. Nothing of what the case expects. */
export function userPrompt({ persona, wants, facts, ifAsked }: Omit<ModelUser, 'user' | 'route' | 'words'>): string {
  const list = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');
  const parts = [
    'You play a person who talks with an assistant. You are this person, and never the assistant.',
    persona === '' ? '' : `Who you are: ${persona}`,
    `What you want: ${wants}`,
    facts.length === 0 ? '' : `What you know:\n${list(facts)}`,
    ifAsked.length === 0 ? '' : `What you know as well, and tell only when you are asked for it:\n${list(ifAsked)}`,
    [
      'How you speak:',
      list([
        'One short message at a time, in the first person, as this person would write it. No role names and no remarks.',
        'Answer what you are asked. What does not stand here you do not know: say so, and invent nothing.',
        `When what you want is done, or cannot be done, and you have no more to say, write ${END} and nothing else.`,
      ]),
    ].join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** What a model's reply means. */
export function replyOf(text: string | null): UserReply {
  const end = text?.includes(END) === true;
  const said = (text ?? '').replaceAll(END, '').trim();
  if (said !== '') return { kind: 'say', text: said, end };
  return end ? { kind: 'leave' } : { kind: 'fail', code: 'empty_reply', message: 'the model that speaks as the user said nothing' };
}
