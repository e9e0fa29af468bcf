import { describe, expect, it } from 'vitest';
import { scriptedReply } from '../../src/domain/conversation/scripted-reply.ts';
import type { ScriptedUser } from '../../src/domain/conversation/simulated-user.ts';
import type { Message } from '../../src/domain/record.ts';

const script: ScriptedUser = {
  user: 'script',
  rules: [
    { topic: ['seat', 'cafe\u0301'], say: ['One.', 'Two.'] },
    { text: { says: [['refund', 'money back'], 'order'], not_says: ['never'] }, say: ['Please refund it.'], times: 1 },
    { matches: '^total: \\d+$', say: ['That is right.'] },
    { topic: ['bye'], say: [], end: true },
    { topic: ['thanks'], say: ['Thanks.'], end: true },
  ],
  otherwise: { say: ['What?', 'What again?'] },
};

const talk = (...agent: readonly (string | readonly string[])[]): Message[] => [
  { turn: 1, from: 'user', text: 'Hello' },
  ...agent.flatMap((heard, index): Message[] => [
    ...[heard].flat().map((text): Message => ({ turn: index + 1, from: 'agent', text })),
    ...(index < agent.length - 1 ? [{ turn: index + 2, from: 'user', text: '...' } as const] : []),
  ]),
];
const reply = (...agent: readonly (string | readonly string[])[]) => scriptedReply(script, talk(...agent));
const says = (text: string, end = false) => ({ kind: 'say', text, end });

describe('a scripted user', () => {
  it('finds topics at the boundaries of words, whatever their case and Unicode form', () => {
    expect(reply('Which SEAT?')).toEqual(says('One.'));
    expect(reply('Which seats?')).toEqual(says('What?'));
    expect(reply('At the Caf\u00e9?')).toEqual(says('One.'));
    expect(reply('cafeteria')).toEqual(says('What?'));
  });

  it('needs every condition of a rule, and lets a rule answer so often as it says', () => {
    expect(reply('A refund of order 7?')).toEqual(says('Please refund it.'));
    expect(reply('A refund?')).toEqual(says('What?'));
    expect(reply('A refund of order 7? Never.')).toEqual(says('What?'));
    expect(reply('A refund of order 7?', 'A refund of order 7?')).toEqual(says('What?'));
    expect(reply('Total: 25')).toEqual(says('That is right.'));
  });

  it('says the next of a list each time, and the last from then on', () => {
    expect(reply('seat', 'seat')).toEqual(says('Two.'));
    expect(reply('seat', 'seat', 'seat')).toEqual(says('Two.'));
    expect(reply('x', 'seat', 'y')).toEqual(says('What again?'));
  });

  it('answers all that is asked, in several messages too, and leaves after what it says', () => {
    expect(reply('A seat, and a refund of the order?')).toEqual(says('One.\nPlease refund it.'));
    expect(reply(['A seat?', 'Bye.'])).toEqual(says('One.', true));
    expect(reply('Thanks')).toEqual(says('Thanks.', true));
    expect(reply('Bye')).toEqual({ kind: 'leave' });
  });

  it('fails where it is strict, and quotes what it has no answer to', () => {
    expect(scriptedReply({ ...script, otherwise: { fail: true } }, talk('Your age?'))).toMatchObject({
      kind: 'fail',
      code: 'no_rule',
      message: expect.stringContaining('Your age?'),
    });
    expect(scriptedReply({ ...script, otherwise: { say: [], end: true } }, talk('Your age?'))).toEqual({ kind: 'leave' });
  });

  it('hears nothing of what came before the user first spoke', () => {
    expect(scriptedReply(script, [{ turn: 1, from: 'agent', text: 'seat' }, ...talk('seat')])).toEqual(says('One.'));
  });
});
