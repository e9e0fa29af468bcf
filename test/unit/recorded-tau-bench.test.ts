import { describe, expect, it } from 'vitest';
import type { RecordedRun, RunFacts } from '../../src/recorded/run.ts';
import { chatCall, goldCall, judgeTauBench, unsaidOf } from '../../src/recorded/tau-bench.ts';
import { callsInText, type ChatMessage, chatMessage, episodeOf } from '../../src/recorded/tau-bench-chat.ts';

const calling = (name: string, args: unknown, content: unknown = null): ChatMessage =>
  chatMessage.parse({ role: 'assistant', content, tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: args } }] });
const saying = (content: unknown): ChatMessage => chatMessage.parse({ role: 'assistant', content });

describe('an episode', () => {
  it('is the calls of the agent in order, and what it told the user', () => {
    const { calls, said, endedBy } = episodeOf(
      [
        chatMessage.parse({ role: 'system', content: 'Policy: 54.04' }),
        chatMessage.parse({ role: 'user', content: 'Hi 54.04' }),
        calling('get_order_details', '{"order_id": "#W1"}', 'I think 54.04'),
        chatMessage.parse({ role: 'tool', tool_call_id: 'a', name: 'get_order_details', content: '{"total": 54.04}' }),
        chatMessage.parse({ role: 'assistant', content: null, function_call: { name: 'think', arguments: '{"thought": "54.04"}' } }),
        saying([{ type: 'text', text: 'It is' }, { type: 'image' }, { type: 'text', text: '$54.05' }]),
        saying(null),
        calling('respond', '{"content": "and more"}'),
      ],
      'fields',
    );
    expect(calls.map(({ tool, args }) => [tool, args])).toEqual([
      ['get_order_details', { order_id: '#W1' }],
      ['think', { thought: '54.04' }],
    ]);
    expect(said).toEqual(['It is\n\n$54.05', '', 'and more']);
    expect(endedBy).toBeNull();
  });

  it('ends with the user or with a hand-over, and nothing behind counts', () => {
    const late = [calling('cancel_pending_order', '{}'), saying('late')];
    const stop = chatMessage.parse({ role: 'user', content: 'Thanks. ###STOP###' });
    expect(episodeOf([saying('bye'), stop, ...late], 'fields')).toEqual({ calls: [], said: ['bye'], endedBy: 'user' });
    const over = episodeOf([calling('transfer_to_human_agents', '{"summary": "s"}'), ...late], 'fields');
    expect(over).toMatchObject({ said: [], endedBy: 'hand-over', calls: [{ tool: 'transfer_to_human_agents' }] });
    expect(over.calls).toHaveLength(1);
  });

  it('a word of the agent ends nothing, nor does a hand-over that is no call', () => {
    expect(episodeOf([saying('###STOP###'), calling('think', '{}')], 'fields')).toMatchObject({ endedBy: null, calls: [{ tool: 'think' }] });
    for (const args of ['{summary', '[]', '"s"', 'null']) {
      expect(episodeOf([calling('transfer_to_human_agents', args), calling('think', '{}')], 'fields').calls).toHaveLength(2);
    }
  });

  it('takes several calls of a message in order, and no calls where lists are empty', () => {
    const one = (name: string) => ({ function: { name, arguments: '{}' } });
    const both = chatMessage.parse({ role: 'assistant', content: '', tool_calls: [one('a'), one('b')] });
    expect(episodeOf([both], 'fields').calls.map((call) => call.tool)).toEqual(['a', 'b']);
    expect(episodeOf([chatMessage.parse({ role: 'assistant', content: 'x', tool_calls: [], function_call: null })], 'fields')).toMatchObject({
      calls: [],
      said: ['x'],
    });
  });
});

describe('an episode of an agent that writes its calls as text', () => {
  const act = (name: unknown, args: unknown, thought = 'Thought:\nhm\n') => saying(`${thought}Action:\n${JSON.stringify({ name, arguments: args })}`);
  const user = (content: string): ChatMessage => chatMessage.parse({ role: 'user', content });

  it('is what stands behind the last "Action:" of each message; thoughts are not said', () => {
    const messages = [
      user('Hi'),
      act('get_order_details', { order_id: '#W1' }, 'Thought: it may be 54.04. Action: none yet. '),
      user('API output: {"note": "###STOP###"}'),
      act('respond', { content: 'It is 41.64.' }),
      user('And now?'),
      saying('Thought: 54.04 Action: I wait for you.'),
      saying('Just talk'),
      saying('{"name": "think", "arguments": {"thought": "x"}}'),
      user('API output: '),
      user('Bye ###STOP###'),
      act('cancel_pending_order', {}),
    ];
    expect(callsInText(messages)).toBe(true);
    const episode = episodeOf(messages, 'text');
    expect(episode.calls.map(({ tool, args }) => [tool, args])).toEqual([
      ['get_order_details', { order_id: '#W1' }],
      ['think', { thought: 'x' }],
    ]);
    expect(episode.said).toEqual(['It is 41.64.', 'I wait for you.', 'Just talk']);
    expect(episode.endedBy).toBe('user');
  });

  it('ends with a hand-over', () => {
    const episode = episodeOf([act('transfer_to_human_agents', { summary: 's' }), act('think', {})], 'text');
    expect(episode).toMatchObject({ endedBy: 'hand-over', calls: [{ tool: 'transfer_to_human_agents', unreadable: null }] });
  });

  it.each([
    ['7'],
    ['null'],
    ['[{"name": "think", "arguments": {}}]'],
    ['{"name": 7, "arguments": {}}'],
    ['{"name": "think"}'],
    ['{"name": "think", "arguments": "{}"}'],
  ])('%s is JSON and no call: it is refused', (text) => {
    const messages = [saying(`Action: ${text}`)];
    expect(callsInText(messages)).toBe(false);
    expect(episodeOf(messages, 'text')).toMatchObject({ said: [], calls: [{ tool: 'unreadable', unreadable: 'it has no name or no arguments' }] });
  });

  it('is not that of an agent that has calls in fields', () => {
    expect(callsInText([act('think', {}), calling('think', '{}')])).toBe(false);
  });
});

describe('arguments', () => {
  it.each(['', '{', "{'order_id': 1}", '{"a": NaN}', 'os.getcwd()', '{"a": 1} {"b": 2}', '{"a": 1,}'])(
    '%j is no JSON: the call is refused as it stands',
    (text) => {
      expect(chatCall('think', text)).toMatchObject({ tool: 'think', args: expect.stringContaining('think'), unreadable: 'the arguments are no JSON' });
    },
  );

  it.each([[null], [undefined], [7], [{ thought: 'x' }], [['x']]])('%j is no text', (value) => {
    expect(chatCall('think', value).unreadable).toBe('the arguments are no text');
  });

  it('of any JSON value are handed on as they are', () => {
    expect(chatCall('think', '[1]')).toMatchObject({ args: [1], unreadable: null });
    expect(Object.keys(chatCall('think', '{"__proto__": 1}').args as object)).toEqual(['__proto__']);
  });

  it('of any length are cut where they are no call', () => {
    const { tool, args } = chatCall('x'.repeat(1e6), `\u0000\ud800${'('.repeat(2e6)}`);
    expect(tool.length).toBeLessThan(200);
    expect(JSON.stringify(args).length).toBeLessThan(1000);
  });
});

describe('what has to be said', () => {
  it.each([
    ['1234.56', 'It is $1,234.56.', true],
    ['1234.56', 'It is $1234.56.', true],
    ['1234.56', 'It is 1.234,56.', false],
    ['1,234.56', 'It is 1,234.56.', false],
    ['10', '$110', true],
    ['20 hours', '20 Hours', true],
    ['20 hours', '20  hours', false],
    ['IL', 'Chicago, il', true],
  ])('%j in %j: %j', (output, message, met) => {
    expect(unsaidOf([output], [message]).length === 0).toBe(met);
  });

  it('is said in one message, and each text counts', () => {
    expect(unsaidOf(['54.04', '41.64'], ['54.04', 'and 41.64'])).toEqual([]);
    expect(unsaidOf(['20 hours'], ['20', 'hours'])).toEqual(['20 hours']);
    expect(unsaidOf(['a', 'b'], ['b'])).toEqual(['a']);
    expect(unsaidOf([], [])).toEqual([]);
  });

  it('is found in a text of 2 MB', () => {
    expect(unsaidOf(['41.64'], [`${'1,'.repeat(1e6)}41.64`])).toEqual([]);
  });
});

describe('the verdict', () => {
  const facts: RunFacts = { changed: true, sameAsGold: true, writeTools: new Set(['cancel_pending_order']) };
  const cancel = goldCall({ tool: 'cancel_pending_order', args: { order_id: '#W1', reason: 'no longer needed' } });
  const run: RecordedRun = {
    ...{ line: 1, model: 'm', tools: 'all', domain: 'retail', task: 'test-0', query: 'q', error: '', published: null },
    calls: [cancel],
    gold: [cancel],
    unsaid: [],
  };

  it('is correct in the end state of the solution, all said, ended', () => {
    expect(judgeTauBench(run, facts)).toEqual({ correct: true, sideEffects: false, exact: true });
    expect(judgeTauBench({ ...run, unsaid: ['10'] }, facts)).toEqual({ correct: false, sideEffects: false, exact: true });
    expect(judgeTauBench({ ...run, error: 'never ended' }, facts)).toMatchObject({ correct: false, sideEffects: false });
    expect(judgeTauBench(run, { ...facts, sameAsGold: false })).toMatchObject({ correct: false, sideEffects: true });
    expect(judgeTauBench(run, { ...facts, sameAsGold: false, changed: false })).toMatchObject({ correct: false, sideEffects: false });
  });

  it('is exact by the writes alone, arguments in any order', () => {
    const turned = chatCall('cancel_pending_order', '{"reason": "no longer needed", "order_id": "#W1"}');
    expect(judgeTauBench({ ...run, calls: [chatCall('think', '{}'), turned] }, facts).exact).toBe(true);
    expect(judgeTauBench({ ...run, calls: [turned, turned] }, facts).exact).toBe(false);
    expect(judgeTauBench({ ...run, calls: [] }, facts).exact).toBe(false);
  });
});
