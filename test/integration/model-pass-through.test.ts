import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { totalsOf } from '../../src/domain/model.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { type AgentServer, type Asked, callTool, type Start, startAgentServer } from '../harness/agent-server.ts';
import { type Provider, says, startProvider } from '../harness/provider.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

const KEY = 'the-key-of-the-provider';
const INPUT_TOKENS = 100;
const OUTPUT_TOKENS = 20;

let testbed: Testbed;
let suites: Blobs;
let provider: Provider;
let server: AgentServer;
const statuses: number[] = [];
let refusal: Json = null;
beforeAll(async () => {
  process.env.TRIALBED_TEST_PROVIDER_KEY = KEY;
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'pass-through');
  provider = await startProvider(() => says('Write a note.'));
  server = await startAgentServer({
    // Asks without end, and does something first.
    'POST loops': async ({ start, response }: Asked) => {
      await callTool(start, 'add_note', { body: 'before' });
      for (;;) {
        const reply = await ask(start);
        statuses.push(reply.status);
        refusal = (await reply.json()) as Json;
        if (!reply.ok) break;
      }
      response.end('I asked too much.');
    },
    'POST spans': async ({ start, response }: Asked) => {
      const attribute = (key: string, value: JsonObject) => ({ key, value });
      const attributes = [
        attribute('gen_ai.operation.name', { stringValue: 'chat' }),
        attribute('gen_ai.request.model', { stringValue: 'elsewhere' }),
        attribute('gen_ai.usage.input_tokens', { intValue: '7' }),
        attribute('gen_ai.usage.output_tokens', { intValue: '3' }),
      ];
      const span = { traceId: '0102030405060708090a0b0c0d0e0f10', spanId: '0a0b0c0d0e0f0102', startTimeUnixNano: '1', endTimeUnixNano: '2', attributes };
      const headers = { authorization: `Bearer ${start.token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
      response.end(`${(await fetch(`${start.gateway}/v1/traces`, { method: 'POST', headers, body })).status}`);
    },
    'POST asks': async ({ start, response }: Asked) => response.end(`${(await ask(start)).status}`),
    'POST silent': ({ response }: Asked) => response.end('Done.'),
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

const ask = ({ models, token }: Start) =>
  fetch(`${models.openai}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'Again?' }] }),
  });
const route = (more: JsonObject = {}): JsonObject => ({
  ...{ name: 'small', url: provider.url, model: 'tiny', key: 'TRIALBED_TEST_PROVIDER_KEY', prices: { input: 1, output: 10 }, ...more },
});
const far = (path: string, more: JsonObject = {}): JsonObject => ({ kind: 'http', url: `${server.url}/${path}`, route: route(), ...more });
const callsOf = ({ trial, attempt }: TrialSummary) => testbed.root.store.modelCalls(trial, attempt);

describe('an agent that asks a model through the gateway', () => {
  it('has its calls recorded with what they cost, and never sees the key', async () => {
    const folder = resolve('test/fixtures/agents/programs');
    const agent: JsonObject = { kind: 'command', folder, program: 'python3', args: ['asker.py'], route: route(), provider_variables: true };
    const trial = await suites.run(agent);
    expect(trial).toMatchObject({ ending: 'completed', calls: 1 });
    const { messages } = await suites.record(trial);
    expect(JSON.parse(messages.at(-1)?.text ?? '')).toEqual(['Write a note.', ['OPENAI_API_KEY', 'TRIALBED_MODEL_OPENAI']]);
    expect(provider.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    const calls = await callsOf(trial);
    expect(totalsOf(calls)).toMatchObject({
      ...{ calls: 1, tokens: { input: INPUT_TOKENS, output: OUTPUT_TOKENS }, cost: { USD: 0.0003 }, unmeasured: { tokens: 0, cost: 0 } },
      versions: ['tiny-2026-01'],
    });
    const said = await testbed.root.store.conversation(trial.trial, trial.attempt);
    expect(said.map(({ role, call }) => [role, call])).toEqual([
      ['system', 'gateway-1'],
      ['user', 'gateway-1'],
      ['assistant', 'gateway-1'],
    ]);
    expect(JSON.stringify([calls, said, messages])).not.toContain(KEY);
  });

  it('is refused beyond its budget, and graded on the world that it left', async () => {
    const trial = await suites.run(far('loops'), { budget: { tokens: 2 * (INPUT_TOKENS + OUTPUT_TOKENS) } });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 1, pass: 'fail' });
    expect(statuses).toEqual([200, 200, 429]);
    expect(refusal).toMatchObject({ error: { code: 'insufficient_quota', message: 'The budget of 240 tokens is used up (240).' } });
    expect(await callsOf(trial)).toHaveLength(2);
    expect((await suites.record(trial)).effects).toHaveLength(1);
  });

  it('has its time for itself while the provider is in trouble', async () => {
    let tries = 0;
    await using slow = await startProvider(async () => {
      if (++tries > 2) return says('At last.');
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return { status: 503, text: 'overloaded' };
    });
    const trial = await suites.run(far('asks', { route: route({ url: slow.url }) }), { budget: { wall: '2s' } });
    expect(trial).toMatchObject({ ending: 'completed', calls: 0 });
    expect(totalsOf(await callsOf(trial))).toMatchObject({ calls: 1, unanswered: 0, failedTries: 2 });
  });

  it('spends the money of its batch, which then launches no more', async () => {
    const request = { ...(await suites.write(far('asks'))), keep: 'never', concurrency: 1, trials: 3 } as const;
    const { summary } = await testbed.run({ ...request, maxCost: { amount: 0.0006, currency: 'USD' } });
    expect(summary).toMatchObject({ gate: 'not_met', stopped: { spent: { amount: 0.0006, currency: 'USD' }, left: 1 } });
  });

  it('may be a module, with the same limits', async () => {
    const module = (times: number): JsonObject => ({ ...moduleAgent('asks-model.ts', { times }), route: route(), provider_variables: true });
    const trial = await suites.run(module(2));
    expect(trial).toMatchObject({ ending: 'completed', calls: 2 });
    expect((await suites.record(trial)).messages.at(-1)?.text).toBe('OPENAI_API_KEY OPENAI_BASE_URL TRIALBED_MODEL_OPENAI TRIALBED_PROCESS TRIALBED_TOKEN');
    expect(totalsOf(await callsOf(trial))).toMatchObject({ calls: 2, cost: { USD: 0.0006 } });
    const beyond = await suites.run(module(9), { budget: { steps: 3 } });
    expect(beyond).toMatchObject({ ending: 'budget_exhausted', pass: 'fail' });
    expect(beyond.why).toContain('The budget of 3 model calls is used up.');
    expect(await callsOf(beyond)).toHaveLength(3);
  });

  it('is no result where the test bed has no key for it, and is not tried again', async () => {
    const trial = await suites.run(far('asks', { route: route({ key: 'TRIALBED_TEST_NOT_SET' }) }));
    expect(trial).toMatchObject({ ending: 'infra_error', attempt: 1 });
    expect(trial.why).toContain('TRIALBED_TEST_NOT_SET');
  });

  it('elsewhere is measured by its spans, or not at all', async () => {
    const told = await suites.run(far('spans'));
    expect((await suites.record(told)).messages.at(-1)?.text).toBe('200');
    expect(totalsOf(await callsOf(told))).toMatchObject({ calls: 1, tokens: { input: 7, output: 3 }, cost: null, unmeasured: { cost: 1 } });
    expect(totalsOf(await callsOf(await suites.run(far('silent'))))).toBeNull();
  });
});
