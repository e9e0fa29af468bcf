import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { importTraces } from '../../src/client/import-traces.ts';
import type { Cassette } from '../../src/domain/cassette.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { readConversations } from '../../src/drafts/read-conversations.ts';
import { loadSuite } from '../../src/suite/load-suite.ts';
import { plantedUnder } from '../harness/planted.ts';
import { type Folder, folderWith, problemsIn } from './suite-fixture.ts';

const REFUND = new URL('../fixtures/traces/refund.otlp.json', import.meta.url).pathname;
const CHATS = new URL('../fixtures/traces/chats.jsonl', import.meta.url).pathname;
const CASE = 'trace-5b8efff798038103';
const desk = (more: { readonly [path: string]: string | null } = {}) =>
  folderWith({
    'pack.ts': null,
    'cases/refund.yaml': null,
    'suite.yaml': 'name: desk\nenvironment: support-desk\nclock: 2026-03-02T09:30:00+01:00\ntimezone: Europe/Berlin\nuser: { name: mara, role: agent }\n',
    ...more,
  });
const read = (folder: Folder, path: string) => readFile(join(folder.path, path), 'utf8');
const cassetteOf = async (folder: Folder, name: string) => JSON.parse(await read(folder, `cassettes/${name}/trace.json`)) as Cassette;
const problemsOf = (files: { readonly [name: string]: string }) =>
  (async () => {
    await using folder = await folderWith(files);
    return problemsIn(folder.path, () => readConversations(Object.keys(files).map((name) => join(folder.path, name))));
  })();

describe('spans of GenAI', () => {
  test('become a case and a cassette with the same placeholders, and what they do not tell is asked', async () => {
    await using folder = await desk();
    const report = await importTraces({ files: [REFUND], suite: folder.path });
    expect(report.drafts).toMatchObject([
      {
        case: CASE,
        state: 'drafted',
        turns: 1,
        calls: 4,
        interactions: 4,
        hidden: { address: 1, 'api-key': 1 },
        questions: ['content', 'state', 'effects', 'forbidden'],
      },
    ]);
    const kase = parse(await read(folder, `cases/${CASE}.yaml`)) as JsonObject;
    expect(kase).toMatchObject({
      request: 'Please take care of the refund in ticket 214.',
      clock: '2026-03-02T08:30:00Z',
      reference: {
        steps: [{ call: 'get_ticket' }, { call: 'get_order' }, { call: 'issue_refund', with: { amount: 39.9 } }, { call: 'send_mail' }],
        answer: 'I refunded 39.90 EUR for the lamp of order 5007 and told the customer by mail.',
      },
    });
    const { interactions, draft, binding } = await cassetteOf(folder, CASE);
    expect(interactions.map(({ tool, told }) => `${tool} ${told}`)).toEqual([
      'get_ticket committed',
      'get_order committed',
      'issue_refund committed',
      'send_mail committed',
    ]);
    expect(JSON.stringify(interactions[0]?.result)).toContain('Call me: address-1@redacted.invalid, my key is [api-key-1]');
    expect({ binding, effects: draft?.effects }).toEqual({ binding: 'trace', effects: [3, 4] });
    expect(await plantedUnder(folder.path, ['anna.b@corp-mail.de', 'sk-proj-abcdefghijklmnopqrstuvwx0123'])).toEqual([]);
  });

  test('are a draft until every question is answered, with the key that it is about', async () => {
    await using folder = await desk();
    await importTraces({ files: [REFUND], suite: folder.path });
    const open = await problemsIn(folder.path, () => loadSuite(folder.path));
    expect(open).toHaveLength(4);
    expect(open[1]).toMatch(
      /^cases\/trace-5b8efff798038103\.yaml:\d+:\d+ review\.questions\[1\]\.answer: this draft has an open question: What did the systems of record hold .* write "state" with the rows/,
    );
    expect(open[2]).toContain('Calls that may have changed something: issue_refund (step 3), send_mail (step 4).');
    const file = join(folder.path, 'cases', `${CASE}.yaml`);
    const { review, ...rest } = parse(await readFile(file, 'utf8')) as JsonObject & { readonly review: { readonly questions: readonly JsonObject[] } };
    const answered = { ...review, questions: review.questions.map((question) => ({ ...question, answer: 'Looked up in the ticket system.' })) };
    const expected = { expect: { outcomes: [{ name: 'nothing changed', effects: [] }] } };
    await writeFile(file, stringify({ ...rest, ...expected, review: answered }));
    expect(await problemsIn(folder.path, () => loadSuite(folder.path))).toEqual([
      expect.stringContaining('review.questions[1].answer: is answered in words alone; expected "state" with the rows'),
      expect.stringContaining('review.questions[3].answer: is answered in words alone; expected "expect.forbidden"'),
    ]);
    await writeFile(file, stringify({ ...rest, state: [], expect: { ...expected.expect, forbidden: [] }, review: answered }));
    expect((await loadSuite(folder.path)).cases).toMatchObject([{ kase: { id: CASE, state: [] } }]);
  });

  test('are not written twice, nor over what is there, nor with --dry-run', async () => {
    await using folder = await desk();
    await importTraces({ files: [REFUND], suite: folder.path, dryRun: true });
    await expect(read(folder, `cases/${CASE}.yaml`)).rejects.toThrow('ENOENT');
    await importTraces({ files: [REFUND], suite: folder.path });
    const file = join(folder.path, 'cases', `${CASE}.yaml`);
    await writeFile(file, 'title: mine\n');
    expect((await importTraces({ files: [REFUND], suite: folder.path })).drafts).toMatchObject([{ state: 'kept' }]);
    expect(await readFile(file, 'utf8')).toBe('title: mine\n');
  });

  test('may say it in events, of today and as before 1.37, and in spans of tools alone', async () => {
    const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });
    const span = (spanId: string, at: number, attributes: object[], more: object = {}) => ({
      ...{ traceId: 'ab'.repeat(16), spanId, name: 'x', startTimeUnixNano: `${1_772_440_200 + at}000000000`, attributes },
      ...more,
    });
    const event = (name: string, content: object) => ({ name, timeUnixNano: '1', attributes: [attribute('gen_ai.event.content', JSON.stringify(content))] });
    const chat = [attribute('gen_ai.operation.name', 'chat')];
    const tool = [
      attribute('gen_ai.operation.name', 'execute_tool'),
      attribute('gen_ai.tool.name', 'get_ticket'),
      attribute('gen_ai.tool.call.arguments', '{"ticket_id": 7}'),
      attribute('error.type', 'not_found'),
    ];
    const events = [event('gen_ai.user.message', { content: 'Ticket 7?' }), event('gen_ai.choice', { index: 0, message: { content: 'There is none.' } })];
    const spans = [span('01', 0, chat, { events }), span('02', 1, tool, { status: { code: 2, message: 'There is no ticket 7.' } })];
    await using folder = await folderWith({ 'spans.jsonl': `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })}\n` });
    const [conversation] = await readConversations([join(folder.path, 'spans.jsonl')]);
    expect(conversation?.messages).toEqual([
      { role: 'user', text: 'Ticket 7?' },
      {
        role: 'assistant',
        text: '',
        calls: [
          { id: '', tool: 'get_ticket', args: { ticket_id: 7 }, reply: { result: null, problem: { code: 'not_found', message: 'There is no ticket 7.' } } },
        ],
      },
      { role: 'assistant', text: 'There is none.', calls: [] },
    ]);
  });
});

describe('chat messages', () => {
  test('become turns, with tools of other names and what was left out, and hostile text stays text', async () => {
    await using folder = await desk();
    const report = await importTraces({ files: [CHATS], suite: folder.path, tools: { lookup_order: 'get_order' } });
    expect(report.drafts).toMatchObject([
      { case: 'chats-1', state: 'drafted', turns: 2, calls: 1, interactions: 1, hidden: { address: 1 } },
      { case: 'chats-2', state: 'drafted', turns: 1, calls: 0 },
    ]);
    expect(parse(await read(folder, 'cases/chats-1.yaml'))).toMatchObject({
      turns: ['What does order 5007 cost? I am address-1@redacted.invalid.', 'Thanks, and mail it to address-1@redacted.invalid'],
      reference: { steps: [{ call: 'get_order', with: { order_id: 5007 } }, { say: 'It costs 84.60 EUR, $${total}: {{ x }}' }], answer: 'I cannot mail that.' },
    });
    const [, hostile = ''] = (await readFile(CHATS, 'utf8')).trim().split('\n');
    const { messages } = JSON.parse(hostile) as { readonly messages: readonly { readonly content: string }[] };
    expect(parse(await read(folder, 'cases/chats-2.yaml'))).toMatchObject({ request: messages[0]?.content, reference: { answer: messages[1]?.content } });
    const unknown = await importTraces({ files: [CHATS], suite: folder.path, dryRun: true });
    expect(unknown.drafts[0]?.left).toEqual([expect.stringContaining('lookup_order: the environment has no such tool; --tool lookup_order=NAME')]);
  });

  test('of which no case can be made are told one by one', async () => {
    const lines = [
      { messages: [{ role: 'assistant', content: 'Hello?' }] },
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'get_ticket', arguments: '[1]' } }] },
        ],
      },
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'get_ticket', arguments: '{"__proto__": {}}' } }] },
        ],
      },
    ];
    await using folder = await desk({ 'odd.jsonl': lines.map((line) => JSON.stringify(line)).join('\n') });
    const { drafts } = await importTraces({ files: [join(folder.path, 'odd.jsonl')], suite: folder.path });
    expect(drafts.map(({ state, why }) => `${state}: ${why}`)).toEqual([
      expect.stringMatching(/^not_drafted: it holds no message of a user/),
      'not_drafted: the arguments of a call of get_ticket are no JSON object',
      expect.stringMatching(/^not_drafted: .*"__proto__" cannot be a key/),
    ]);
  });
});

describe('what cannot be read', () => {
  test.each([
    [
      'no JSON',
      '{"messages": [{"role": "user", "content": "a"}]}\n{"messages": [}\n',
      'x.jsonl:2:15 this is no JSON; expected one object, in the whole file or on each line of it',
    ],
    [
      'another shape',
      '{"messages": [{"role": "user", "content": "a"}]}\n{"messages": [{"role": "user", "content": 5}]}\n',
      /^x\.jsonl:2:43 messages\[0\]\.content: /,
    ],
    ['an unknown role', '{\n "messages": [\n  {"role": "robot"}\n ]\n}\n', /^x\.jsonl:3:12 messages\[0\]\.role: /],
    ['something else', '{"spans": []}\n', /^x\.jsonl:1:1 expected "resourceSpans"/],
    ['nothing', ' \n', 'x.jsonl:1:1 the file is empty; expected JSON'],
    ['no conversation', '{"resourceSpans": []}\n', /^x\.jsonl:-:- there is no conversation in it/],
    ['depth', `{"messages": ${'['.repeat(200)}${']'.repeat(200)}}`, /^x\.jsonl:1:1 the JSON is nested deeper than 100 levels/],
    [
      'an attribute that was cut off',
      JSON.stringify({
        resourceSpans: [
          { scopeSpans: [{ spans: [{ traceId: 'a', attributes: [{ key: 'gen_ai.input.messages', value: { stringValue: '[{"role": "user", "par' } }] }] }] },
        ],
      }),
      /^x\.jsonl:1:\d+ resourceSpans\[0\]\..*attributes\[0\]\.value: gen_ai\.input\.messages is no list of messages in JSON; was it cut off/,
    ],
  ])('is told with file, line and column: %s', async (_what, text, expected) => {
    const found = await problemsOf({ 'x.jsonl': text });
    expect(found[0]).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  });

  test('is a suite of ours, or one without a user', async () => {
    await expect(importTraces({ files: [CHATS], suite: 'support-desk' })).rejects.toThrow('this suite comes with trialbed, and nothing is written into it');
    await using folder = await desk({ 'suite.yaml': 'name: desk\nenvironment: support-desk\nclock: 2026-03-02T09:30:00Z\n' });
    expect(await problemsIn(folder.path, () => importTraces({ files: [CHATS], suite: folder.path }))).toEqual([
      expect.stringMatching(/^suite\.yaml:1:1 drafted cases need user: /),
    ]);
  });
});
