import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { trialbedOver } from '../../src/client/index.ts';
import { prepareBatch } from '../../src/client/run.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { collectReport } from '../../src/report/collect.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-fault-batch-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const look = { call: 'get_order', with: { order_id: 5005 } };
const FAULTS = {
  // The reference looks three times.
  down: { faults: [{ on: 'get_order', calls: { from: 2 }, fault: 'unavailable' }] },
  chance: { faults: [{ on: 'get_order', probability: 0.5, fault: 'unavailable' }] },
  idle: {
    title: 'Nobody refunds',
    faults: [{ on: 'issue_refund', fault: 'timeout_after_commit' }],
  },
};

async function suite(name: string, faults: typeof FAULTS | object = FAULTS) {
  const agent = { kind: 'script', steps: [look, look, look], answer: 'Done.' };
  const kase = {
    expects_nothing: false,
    expect: { outcomes: [{ name: 'nothing changed', effects: [] }], constraints: [{ after_fault: 'get_order', must_call: 'search_orders' }] },
    reference: { steps: [look], answer: 'Done.' },
  };
  return await writeOneCaseSuite(folder, name, { environment: 'support-desk', agent, kase, faults: faults as typeof FAULTS });
}

const nameOf = ({ schedule, agent, repetition }: TrialSummary) => `${schedule} ${agent} ${repetition}`;

test('case by schedule by agent by repetition: each trial under its schedule, counted, reported, and run again by what failed', {
  timeout: 120_000,
}, async () => {
  const request = await suite('matrix');
  const { trials, summary } = await testbed.run({ ...request, agents: [...request.agents, 'reference'], faults: ['all'], trials: 2, seed: 's', keep: 'never' });
  expect(trials.map(nameOf).sort()).toEqual(
    ['chance', 'down', 'idle', 'none'].flatMap((schedule) => ['agent', 'reference'].flatMap((agent) => [1, 2].map((n) => `${schedule} ${agent} ${n}`))).sort(),
  );
  const of = (name: string) => trials.find((trial) => nameOf(trial) === name);
  expect(of('down agent 1')).toMatchObject({ pass: 'fail', faults: { injected: 2, unfired: 0 } });
  expect(of('down reference 1')).toMatchObject({ pass: 'pass', faults: { injected: 0, unfired: 1 } });
  expect(of('none agent 1')).toMatchObject({ pass: 'pass' });
  expect(of('none agent 1')).not.toHaveProperty('faults');
  const { schedules } = summary;
  expect(schedules?.map(({ schedule }) => schedule)).toEqual(['none', 'chance', 'down', 'idle']);
  expect(schedules?.find(({ schedule }) => schedule === 'down')).toEqual({ schedule: 'down', trials: 4, passed: 2, failed: 2, injected: 4, neverFired: false });
  expect(schedules?.find(({ schedule }) => schedule === 'idle')).toEqual({ schedule: 'idle', trials: 4, passed: 4, failed: 0, injected: 0, neverFired: true });

  // Agents meet the same faults; another repetition meets others.
  const rules = async (name: string) => {
    const trial = of(name);
    return trial === undefined ? null : ((await testbed.root.store.record(trial.trial, trial.attempt))?.faults?.rules ?? null);
  };
  expect(await rules('chance agent 1')).not.toBeNull();
  expect(await rules('chance agent 1')).toEqual(await rules('chance reference 1'));
  expect(await rules('chance agent 2')).not.toEqual(await rules('chance agent 1'));

  const client = trialbedOver(testbed.root, async () => {});
  const data = await collectReport(client, await client.results(summary.batch));
  expect(data.schedules.find(({ schedule }) => schedule === 'down')?.rules).toEqual([
    { rule: 'every call from number 2 of get_order: unavailable with no effect', fired: 4, inTrials: 2 },
  ]);
  expect(data.schedules.find(({ schedule }) => schedule === 'idle')).toMatchObject({ title: 'Nobody refunds', trials: 4, rules: [{ fired: 0 }] });
  expect(data.runtime?.lookup).toBe('get_operation');

  const again = await testbed.run({
    ...request,
    agents: [...request.agents, 'reference'],
    faults: ['none', 'down'],
    lastFailed: true,
    trials: 2,
    seed: 's',
    keep: 'never',
  });
  expect(again.trials.map(nameOf).sort()).toEqual(['down agent 1', 'down agent 2']);
});

test('an edited schedule makes other trials, and leaves those of other schedules equal', async () => {
  const request = { ...(await suite('identity')), seed: 's' };
  const manifest = async (faults: readonly string[]) => (await prepareBatch(testbed.root, { ...request, faults })).batch.manifestHash;
  const [none, down, idle] = [await manifest(['none']), await manifest(['down']), await manifest(['idle'])];
  expect(new Set([none, down, idle]).size).toBe(3);
  // The interrupted batch of equal content is found again.
  expect(await manifest(['down'])).toBe(down);
  await suite('identity', { ...FAULTS, down: { faults: [{ on: 'get_order', calls: { from: 3 }, fault: 'unavailable' }] } });
  expect(await manifest(['down'])).not.toBe(down);
  expect(await manifest(['idle'])).toBe(idle);
  expect(await manifest(['none'])).toBe(none);
});
