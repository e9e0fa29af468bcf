import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { until } from '../chaos/until.ts';
import { type AgentServer, type Asked, callTool, startAgentServer } from '../harness/agent-server.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { acting, type Blobs, blobs } from './core-trials.ts';

const SECRET = 'a-secret-of-the-header';

let testbed: Testbed;
let suites: Blobs;
let server: AgentServer;
let hungUp = 0;
let putOff = 0;
beforeAll(async () => {
  process.env.TRIALBED_TEST_AGENT_KEY = SECRET;
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'http-agent');
  server = await startAgentServer({
    'POST turns': async ({ request, response, start }) => {
      await callTool(start, 'add_note', { body: `note of turn ${start.turn}` });
      const heard = start.messages.map(({ from, text }) => `${String(from)}: ${String(text)}`).join(' / ');
      response.end(JSON.stringify({ text: heard, data: { turn: start.turn, key: request.headers['x-key'], ...start.parameters } }));
    },
    'POST polls': async ({ response, start }) => {
      const { place } = start.parameters;
      void callTool(start, 'add_note', { body: 'meanwhile' });
      if (place === 'location') response.writeHead(202, { location: '../status/1', 'retry-after': '0' }).end();
      else response.writeHead(202).end(JSON.stringify({ status: '/status/2', other: 1 }));
    },
    'GET status': ({ request, response }) => {
      const asked = server.seen.filter((line) => line === `GET ${request.url}`).length;
      if (asked < 3) response.writeHead(202).end();
      else response.end('I noted it.');
    },
    'POST forever': ({ response }) => response.writeHead(202, { location: '/never' }).end(),
    'GET never': ({ response }) => response.writeHead(202).end(),
    'DELETE never': ({ response }) => response.writeHead(204).end(),
    'POST busy': ({ response }) => (++putOff < 3 ? response.writeHead(503, { 'retry-after': '0' }).end() : response.end('At last.')),
    'POST fails': ({ response, start, request }) => response.writeHead(500).end(`\u001b[31mno: ${start.token} ${String(request.headers['x-key'])}`),
    'POST moved': ({ response }) => response.writeHead(307, { location: '/turns' }).end(),
    'POST elsewhere': ({ response }) => response.writeHead(202, { location: 'http://agents.example.org/status' }).end(),
    'POST nowhere': ({ response }) => response.writeHead(202).end(),
    'POST floods': async ({ response }) => {
      while (!response.destroyed) if (!response.write('x'.repeat(100_000))) await sleep(1);
    },
    'POST hangs': ({ response }) => response.on('close', () => hungUp++),
    'POST dies': ({ response }) => response.writeHead(200, { 'content-length': '100' }).write('I did', () => response.destroy()),
    'POST vanishes': ({ request }: Asked) => request.socket.destroy(),
    'POST prints': ({ response }) => response.end('{"answer": "Done."}'),
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const agent = (path: string, more: JsonObject = {}): JsonObject => ({
  ...{ kind: 'http', url: `${server.url}/${path}`, headers: { 'X-Key': 'TRIALBED_TEST_AGENT_KEY' }, ...more },
});

describe('an agent behind HTTP', () => {
  it('is sent each turn with the conversation so far, and acts through the gateway', async () => {
    const trial = await suites.run(agent('turns', { output: 'json', parameters: { loud: true } }), { request: undefined as never, turns: ['first', 'second'] });
    expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
    const { messages, effects } = await suites.record(trial);
    expect(messages.map(({ from, text, data }) => [from, text, data])).toEqual([
      ['user', 'first', null],
      ['agent', 'user: first', { turn: 1, key: SECRET, loud: true }],
      ['user', 'second', null],
      ['agent', 'user: first / agent: user: first / user: second', { turn: 2, key: SECRET, loud: true }],
    ]);
    expect(effects).toHaveLength(2);
  });

  it.each(['location', 'body'])('that says 202 is asked for its answer where its %s says', async (place) => {
    const trial = await suites.run(agent('polls/start', { parameters: { place }, timeouts: { poll: '50ms' } }));
    expect(trial).toMatchObject({ ending: 'completed', calls: 1 });
    expect((await suites.record(trial)).messages.at(-1)?.text).toBe('I noted it.');
  });

  it('that is busy at the start is asked again', async () => {
    const trial = await suites.run(agent('busy'));
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1 });
    expect(putOff).toBe(3);
  });

  it.each<[string, string, string, JsonObject]>([
    ['answers with another status', 'fails', 'no: [secret] [secret]', {}],
    ['redirects', 'moved', 'redirects (307) to /turns', {}],
    ['names another server for its answer', 'elsewhere', "http://agents.example.org, which is not the agent's own server", {}],
    ['names no address for its answer', 'nowhere', 'named no address', {}],
    ['answers without end', 'floods', 'more than 1000000 bytes', {}],
    ['breaks off in the middle', 'dies', "The agent's server is gone", {}],
    ['hangs up', 'vanishes', "The agent's server is gone", {}],
    ['promises JSON and gives another form', 'prints', 'no answer of the form', { output: 'json' }],
  ])('that %s has failed', async (_, path, words, more) => {
    const trial = await suites.run(agent(path, more));
    expect(trial).toMatchObject({ ending: 'agent_error', attempt: 1 });
    expect((await suites.record(trial)).problem?.message).toContain(words);
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['of the trial', {}, { budget: { wall: '1s' } }, 'used up its 1000 ms'],
    ['for one answer', { timeouts: { answer: '500ms' } }, {}, 'did not answer POST within 500 ms'],
  ])('that hangs is left when its time %s is over', async (_, more, kase, words) => {
    const before = hungUp;
    const trial = await suites.run(agent('hangs', more), kase);
    expect(trial).toMatchObject({ ending: 'agent_timeout', attempt: 1 });
    expect((await suites.record(trial)).problem?.message).toContain(words);
    await until('the connection is closed', async () => expect(hungUp).toBe(before + 1));
  });

  it('that is still at work is told when its trial is cancelled', async () => {
    const running = suites.run(agent('forever', { timeouts: { poll: '100ms' } }));
    await until('it is asked for its answer', async () => expect(server.seen).toContain('GET /never'));
    await testbed.root.temporal.workflow.getHandle(await acting(testbed.root, 0)).cancel();
    expect(await running).toMatchObject({ ending: 'cancelled', pass: null });
    expect(server.seen.filter((line) => line === 'DELETE /never')).toHaveLength(1);
  });

  it('whose server is gone before the second turn has failed; one that was never there is no result', async () => {
    const dying = await startAgentServer({
      'POST once': ({ response }) => {
        response.end('Done.');
        dying.stop();
      },
    });
    const never = await startAgentServer({});
    never.stop();
    const [failed, missing] = await Promise.all([
      suites.run({ ...agent(''), url: `${dying.url}/once` }, { request: undefined as never, turns: ['first', 'second'] }),
      suites.run({ ...agent(''), url: `${never.url}/once` }),
    ]);
    expect(failed).toMatchObject({ ending: 'agent_error', attempt: 1 });
    expect(missing).toMatchObject({ ending: 'infra_error', pass: null, attempt: 3 });
    expect(missing.why).toContain('the server of agent agent took no start');
  });

  it('that needs a variable which is not set is no result, and is not tried again', async () => {
    const trial = await suites.run(agent('turns', { headers: { Authorization: 'TRIALBED_TEST_NOT_SET' } }));
    expect(trial).toMatchObject({ ending: 'infra_error', attempt: 1 });
    expect(trial.why).toContain('TRIALBED_TEST_NOT_SET, which agent agent sends as header Authorization, is not set where the worker runs');
  });
});
