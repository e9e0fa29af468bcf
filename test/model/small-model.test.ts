import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Provider } from '../harness/provider.ts';
import { importTauBench } from '../../src/suite/import-tau-bench.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { startSmallModel } from './endpoint.ts';

/** How well the model does does not matter: that each of its trials ends graded, with tokens and latency counted, does. */
const PRICES = { input: 0.1, output: 0.4 };
const GRADED = new Set(['completed', 'agent_error', 'agent_timeout', 'budget_exhausted']);

const datasets = await requireOrSkip('datasets');

let model: Provider;
let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  [model, testbed, folder] = await Promise.all([startSmallModel(), startTestbed(inject('services')), mkdtemp(join(tmpdir(), 'trialbed-small-'))]);
});
afterAll(async () => {
  await testbed?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function agentFile(name: string, agent: JsonObject): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, stringify({ name, ...agent }));
  return file;
}

const route = (): JsonObject => ({
  name: 'small',
  url: model.url,
  model: 'smollm2',
  prices: PRICES,
  timeout: '10m',
  parameters: { temperature: 0.8, max_tokens: 64 },
  seed: 7,
});

function expectMeasured(trial: TrialSummary): void {
  expect(GRADED).toContain(trial.ending);
  expect(trial.pass).not.toBeNull();
  const totals = trial.models?.agent;
  expect(totals?.calls).toBeGreaterThan(0);
  expect(totals?.tokens?.input).toBeGreaterThan(0);
  expect(totals?.tokens?.output).toBeGreaterThan(0);
  expect(totals?.latencyMs).toBeGreaterThan(0);
  expect(totals?.cost?.['USD']).toBeGreaterThan(0);
  expect(totals?.versions).toEqual(['smollm2-135m-instruct-q4_1']);
}

it('drives trials of the support desk, each of which ends graded, with tokens and latency counted', async () => {
  const agent = await agentFile('small', { kind: 'model', prompt: 'You help customers of a shop.', route: route(), budget: { steps: 4 } });
  const cases = ['refund-within-policy', 'address-change-two-turns', 'nothing-to-do'];
  const { trials, summary } = await testbed.run({ suite: 'support-desk', cases, agents: [agent], keep: 'never', concurrency: 3 });
  expect(trials).toHaveLength(3);
  for (const trial of trials) expectMeasured(trial);
  expect(summary.infraErrors).toBe(0);
  expect(summary.models).toMatchObject([{ agent: 'small', who: 'agent', totals: { unmeasured: { tokens: 0, cost: 0 } } }]);
  for (const { trial, attempt } of trials) expect((await testbed.root.store.conversation(trial, attempt)).some(({ role }) => role === 'assistant')).toBe(true);
});

it.skipIf(!datasets.met)(skipTitle("speaks as the customer of twenty retail tasks, its tokens apart from the agent's", datasets), async () => {
  const file = join(folder, 'user-route.yaml');
  await writeFile(file, stringify({ ...route(), parameters: { temperature: 0.8, max_tokens: 24 } }));
  const suite = join(folder, 'retail');
  await importTauBench({ data: join(DATASETS, 'tau-bench-retail'), out: suite, user: 'model', route: file });
  const cases = Array.from({ length: 20 }, (_, index) => `test-${index * 5}`);
  const { trials, summary } = await testbed.run({ suite, cases, agents: ['reference'], keep: 'never', concurrency: 4 });
  expect(trials.every(({ ending }) => ending === 'completed' || ending === 'user_error')).toBe(true);
  expect(summary).toMatchObject({ trials: 20, infraErrors: 0 });
  for (const { models } of trials) {
    expect(models?.agent ?? null).toBeNull();
    expect(models?.user?.calls).toBeGreaterThan(0);
    expect(models?.user?.tokens?.output).toBeGreaterThan(0);
  }
});

it('drives tools through the `ai` package in a program, whose calls pass through the gateway', async () => {
  const agent = await agentFile('sdk', {
    ...{ kind: 'command', folder: resolve('test/model/sdk-agent'), program: process.execPath, args: ['agent.mjs'] },
    route: route(),
  });
  const { trials } = await testbed.run({ suite: 'support-desk', cases: ['refund-within-policy'], agents: [agent], keep: 'never' });
  for (const trial of trials) expectMeasured(trial);
  const calls = await testbed.root.store.modelCalls(trials[0]?.trial ?? '', trials[0]?.attempt ?? 1);
  expect(new Set(calls.map(({ source }) => source))).toEqual(new Set(['gateway']));
});
