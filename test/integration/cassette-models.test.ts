import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import { record, type RecordRequest } from '../../src/client/cassettes/record.ts';
import { run } from '../../src/client/run.ts';
import type { Cassette } from '../../src/domain/cassette.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { calls, type Provider, says, startProvider } from '../harness/provider.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const SECRET = 'sk-proj-abcdefghijklmnopqrstuvwx0123';
const never = new Promise<never>(() => {});

let testbed: Testbed;
let folder: string;
let provider: Provider;
/** What the provider answers, one after the other, to each conversation. */
const ANSWERS = [
  calls(['get_ticket', { ticket_id: 214 }]),
  calls(['update_ticket', { ticket_id: 214, priority: 'high' }]),
  says(`Raised. They gave the key ${SECRET}.`),
];

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-models-'));
  provider = await startProvider(({ body }) => ANSWERS[body.messages.filter(({ role }) => role === 'assistant').length] ?? says('no more'));
});
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  await testbed?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const agent = (changes: JsonObject = {}, route: JsonObject = {}): JsonObject => ({
  ...{ name: 'agent', version: '1', kind: 'model', prompt: 'Be brief.' },
  route: { name: 'tiny', url: provider.url, model: 'tiny', ...route },
  ...changes,
});
const recordOn = (request: RecordRequest) => record(testbed.root, request, (asked) => run(testbed.root, asked, never));

test('replies of a model are answered from the cassette by everything they may depend on, and no model is asked in their stead', {
  timeout: 120_000,
}, async () => {
  const state = [{ update: 'tickets', where: { id: 214 }, set: { body: `Broken. Key ${SECRET}` } }];
  const outcomes = [{ name: 'raised', effects: [{ row: 'tickets', change: 'update', where: { id: 214, priority: 'high' } }] }];
  const { suite, agents } = await writeOneCaseSuite(folder, 'raised', {
    environment: 'support-desk',
    agent: agent(),
    kase: { state, expects_nothing: false, expect: { outcomes }, request: 'Please raise 214.' },
  });
  await expect(recordOn({ suite, agents: ['reference'], models: true })).rejects.toThrow(
    'agent reference is of kind reference, and replies are recorded of agents of kind model',
  );
  const report = await recordOn({ suite, agents, models: true });
  expect(report.cassettes, JSON.stringify(report)).toMatchObject([{ state: 'new', why: null, interactions: 2 }]);
  const file = report.cassettes[0]?.file ?? '';
  const text = await readFile(file, 'utf8');
  const { models } = JSON.parse(text) as Cassette;
  expect(models?.replies.map(({ at }) => at)).toEqual([3, 5, 7]);
  // The world changed before the third call alone.
  const worlds = models?.replies.map(({ key }) => key.world) ?? [];
  expect([worlds[0] === worlds[1], worlds[1] === worlds[2]]).toEqual([true, false]);
  expect(text).not.toContain('sk-proj-');

  expect((await recordOn({ suite, agents, models: true })).cassettes).toMatchObject([{ state: 'same' }]);

  const asked = provider.requests.length;
  const played = () => testbed.run({ suite, agents, cassettes: {} });
  const same = await played();
  expect(same.trials, JSON.stringify(same.trials)).toMatchObject([{ ending: 'completed', pass: 'pass', cassette: { route: 'recorded', differs: [] } }]);
  expect(provider.requests).toHaveLength(asked);

  const missed = async (changed: JsonObject) => {
    await writeFile(agents[0], stringify(changed));
    const { trials } = await played();
    expect(trials).toMatchObject([{ ending: 'cassette_miss', pass: 'undetermined' }]);
    return trials[0]?.why;
  };
  expect(await missed(agent({ prompt: 'Be long.' }))).toMatch(
    /holds no reply to this call of the model; the nearest is reply 1, recorded with another message 1: system "Be brief\. You act .*, now system "Be long\. You act .*No model was asked/,
  );
  expect(await missed(agent({}, { parameters: { temperature: 1 } }))).toContain(
    'the nearest is reply 1, recorded with another parameters (temperature: not there -> 1)',
  );
  expect(await missed(agent({}, { seed: 4 }))).toContain('recorded with another route (seed: null -> 4)');
  expect(provider.requests).toHaveLength(asked);

  // What tools told, and what they changed, count as well.
  await writeFile(agents[0], stringify(agent()));
  await writeFile(file, text.replace(/("result": \{[^}]*?"priority": )"normal"/, '$1"low"'));
  expect((await played()).trials[0]?.why).toContain('the nearest is reply 2, recorded with another message 4: tool');
  await writeFile(file, text.replace(/("after": \{[^}]*?"priority": )"high"/, '$1"urgent"'));
  expect((await played()).trials[0]?.why).toContain('the nearest is reply 3, recorded with another state of the world (');
  await writeFile(file, text);
  expect(provider.requests).toHaveLength(asked);

  await writeFile(agents[0], stringify(agent({}, { parameters: { temperature: 1 } })));
  const live = await testbed.run({ suite, agents, cassettes: { liveModels: true } });
  expect(live.trials).toMatchObject([{ ending: 'completed', pass: 'pass', cassette: { route: 'recorded' } }]);
  expect(provider.requests).toHaveLength(asked + 3);
});
