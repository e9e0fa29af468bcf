import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import { loadBundle } from '../../src/worker/bundle.ts';
import { startTraces } from '../../src/worker/traces/traces.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';
import { type ReceivedSpan, startTraceReceiver } from '../harness/trace-receiver.ts';

const SECRET = 'hunter2-sesame';

it('an attempt is one tree of spans, from its phases to what its tools ask of others, and none says what was said', async () => {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await startTraceReceiver());
  const visited: (string | string[] | undefined)[] = [];
  const visits = createServer((request, response) => {
    visited.push(request.headers['traceparent']);
    response.end('ok');
  });
  await new Promise<void>((listening) => visits.listen(0, '127.0.0.1', listening));
  stack.defer(() => void visits.close());
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-traces-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const { suite, agents } = await writeOneCaseSuite(folder, 'told', {
    environment: { use: resolve('test/fixtures/packs/told/pack.ts') },
    agent: {
      kind: 'module',
      file: resolve('test/fixtures/agents/teller.ts'),
      parameters: { text: SECRET, visits: `http://127.0.0.1:${(visits.address() as AddressInfo).port}/` },
    },
  });
  const traces = { url: `${receiver.url}/v1/traces`, headers: { 'x-team': 'eval' }, share: 1, service: 'trialbed' };
  const testbed = await startTestbed(inject('services'), { config: { traces } });
  let results: Awaited<ReturnType<typeof testbed.run>>;
  try {
    results = await testbed.run({ suite, agents, trials: 2, keep: 'never' });
    const [{ trial = '' } = {}] = results.trials;
    const history = historyToJSON(await testbed.root.temporal.workflow.getHandle(trial).fetchHistory());
    const workflowBundle = await loadBundle(testbed.config.home);
    const { sinks } = await startTraces(null, testbed.root.log);
    await Worker.runReplayHistory({ workflowBundle, sinks }, historyFromJSON(JSON.parse(history)), trial);
  } finally {
    // Sends what is left.
    await testbed[Symbol.asyncDispose]();
  }

  const { spans } = receiver;
  expect(receiver.requests.every(({ path, headers }) => path === '/v1/traces' && headers['x-team'] === 'eval')).toBe(true);
  expect(new Set(spans.map(({ trace }) => trace)).size).toBe(2);
  for (const result of results.trials) {
    const root = spans.find((span) => span.name === 'trial attempt' && span.attributes['trialbed.trial'] === result.trial);
    const own = spans.filter(({ trace }) => trace === root?.trace);
    expect(root).toMatchObject({ parent: null, attributes: { 'trialbed.ending': 'completed', 'trialbed.verdict': result.pass, 'trialbed.calls': 8 } });
    const byId = new Map(own.map((span) => [span.id, span]));
    expect(byId.size).toBe(own.length);
    expect(own.filter(({ parent }) => parent === null)).toEqual([root]);
    const parentOf = (span: ReceivedSpan | undefined) => byId.get(span?.parent ?? '');
    expect(own.filter((span) => span.parent !== null && !parentOf(span))).toEqual([]);
    for (const { attributes } of own) {
      expect(attributes).toMatchObject({ 'trialbed.trial': result.trial, 'trialbed.batch': result.batch, 'trialbed.attempt': 1 });
      expect(Object.keys(attributes).every((name) => /^(trialbed\.|temporal|run_id$)/.test(name))).toBe(true);
    }
    const phases = own.filter((span) => parentOf(span) === root && span.attributes['trialbed.phase']).map(({ name }) => name);
    expect(phases).toEqual(['provision', 'drive', 'fence', 'grade', 'release']);
    const operations = own.filter(({ name }) => name.startsWith('operation '));
    expect(operations.every((span) => parentOf(span)?.name === 'drive')).toBe(true);
    const told = operations.map(({ attributes }) => [attributes['trialbed.operation'], attributes['trialbed.tool'], attributes['trialbed.state']]);
    expect(told).toEqual([
      ['op-1', 'keep', 'committed'],
      ['op-2', 'forbidden', 'denied'],
      ['op-3', 'refuse', 'failed'],
      ['op-4', 'break', 'unknown'],
      ['op-5', 'complain', 'committed'],
      ['op-6', '(unknown)', 'rejected'],
      ['op-7', 'keep', 'rejected'],
      ['op-8', 'visit', 'committed'],
    ]);
    const dispatched = own.filter(({ name }) => name === 'RunActivity:operate');
    expect(dispatched.map((span) => parentOf(span)?.attributes['trialbed.operation'])).toEqual(['op-1', 'op-3', 'op-4', 'op-5', 'op-8']);
    expect(dispatched.map(({ attributes, error }) => [attributes['trialbed.failure'] ?? null, error])).toEqual([
      [null, false],
      ['refused', false],
      ['internal_error', true],
      [null, false],
      [null, false],
    ]);
    const converse = own.find(({ name }) => name === 'RunActivity:converse');
    expect(parentOf(converse)?.name).toBe('drive');
    // What a tool asks of others belongs to its own try.
    expect(visited).toContain(`00-${root?.trace}-${dispatched.at(-1)?.id}-01`);
    expect(own.every((span) => span.endNs >= span.startNs && span.startNs > 0n)).toBe(true);
  }
  const bytes = Buffer.concat(receiver.bodies);
  expect(bytes.includes(results.trials[0]?.trial ?? '-')).toBe(true);
  expect(bytes.includes(SECRET)).toBe(false);
});
