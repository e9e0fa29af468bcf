import { readFile } from 'node:fs/promises';
import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess, WorkerEndedError } from '../../src/client/worker-process.ts';
import { freePort } from '../../src/infra/ports.ts';
import { until } from '../chaos/until.ts';
import { ownServer } from '../fixtures/packs/shop/kit.ts';
import { startTestbed } from '../harness/testbed.ts';

const REQUEST = { suite: 'support-desk', cases: ['refund-within-policy', 'nothing-to-do'], agents: ['reference', 'do-nothing'], keep: 'never' } as const;

it('a worker serves what its trials came to, beside the metrics of the SDK; an address that is taken is told', { timeout: 120_000 }, async () => {
  // Of its own: worlds are counted, and other tests lease some.
  await using server = await ownServer();
  await using testbed = await startTestbed({ ...inject('services'), postgresUrl: server.url }, { worker: false });
  const metrics = `127.0.0.1:${await freePort()}`;
  const gatewayPort = await freePort();
  await using worker = await startWorkerProcess({ ...testbed.config, metrics, gateway: { port: gatewayPort, url: null } });
  const scraped = async () => (await (await fetch(`http://${metrics}/metrics`)).text()).split('\n');
  const handle = await run(testbed.root, REQUEST, worker.broken);
  const trials = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toHaveLength(4);
  const records = await Promise.all(trials.map(({ trial, attempt }) => testbed.root.store.record(trial, attempt)));

  // Of nobody, and at none of its doors.
  expect((await fetch(`http://127.0.0.1:${gatewayPort}/${'x'.repeat(50)}`)).status).toBe(401);
  let lines = await scraped();
  // These are looked at every few seconds.
  const free = (await testbed.root.worlds.states()).reduce((sum, { state, count }) => sum + (state === 'free' ? count : 0), 0);
  expect(free).toBeGreaterThan(0);
  const sumOf = (name: string, ...labels: string[]) =>
    lines
      .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  for (const agent of REQUEST.agents) {
    for (const pass of ['pass', 'fail']) {
      const expected = trials.filter((trial) => trial.agent === agent && trial.pass === pass).length;
      expect(sumOf('trialbed_attempts_total', `agent="${agent}"`, 'ending="completed"', `verdict="${pass}"`), `${agent} ${pass}`).toBe(expected);
    }
    const calls = trials.filter((trial) => trial.agent === agent).reduce((sum, trial) => sum + trial.calls, 0);
    expect(sumOf('trialbed_calls_total', `agent="${agent}"`)).toBe(calls);
    expect(sumOf('trialbed_attempt_duration_seconds_count', `agent="${agent}"`)).toBe(2);
    expect(sumOf('trialbed_attempt_duration_seconds_bucket', `agent="${agent}"`, 'le="3600"')).toBe(2);
  }
  const seconds = trials.reduce((sum, { durationMs }) => sum + durationMs / 1000, 0);
  expect(sumOf('trialbed_attempt_duration_seconds_sum')).toBeCloseTo(seconds, 3);
  const told = records.flatMap((record) => record?.operations ?? []).map(({ tool, told }) => `${tool} ${told}`);
  expect(told.length).toBeGreaterThan(0);
  for (const one of new Set(told)) {
    const [tool, state] = one.split(' ');
    expect(sumOf('trialbed_operations_total', `tool="${tool}"`, `state="${state}"`), one).toBe(told.filter((other) => other === one).length);
  }
  expect(sumOf('trialbed_operations_total')).toBe(told.length);
  expect(sumOf('trialbed_world_wait_seconds_count', 'outcome="leased"')).toBe(4);
  expect(sumOf('trialbed_worlds_released_total', 'how="reset"')).toBe(4);
  expect(sumOf('trialbed_gateway_requests_total', 'door="other"', 'status="401"')).toBe(1);
  expect(sumOf('trialbed_gateway_requests_total')).toBe(1);
  expect(lines.some((line) => line.startsWith('temporal_') && line.includes('activity_type="settleAttempt"'))).toBe(true);

  await until('the gauges are those of the store', async () => {
    lines = await scraped();
    return sumOf('trialbed_worlds', 'host="test"', 'state="free"') === free && sumOf('trialbed_worlds', 'state="leased"') === 0;
  });
  expect(sumOf('trialbed_trials')).toBe(0);
  expect(sumOf('trialbed_connections', 'pool="store"', 'state="idle"')).toBeGreaterThan(0);
  expect(sumOf('trialbed_connections', 'pool="test admin"', 'state="awaited"')).toBe(0);
  // Each has its unit in its name, and a total says so.
  const names = new Set(lines.flatMap((line) => /^# TYPE (trialbed_\w+) (\w+)/.exec(line)?.slice(1, 3).join(' ') ?? []));
  for (const name of names) expect(name).toMatch(/_total counter$|_seconds histogram$|^trialbed_(trials|worlds|connections) gauge$/);
  const page = await readFile('docs/how-to/observability.md', 'utf8');
  expect([...names].map((name) => name.split(' ')[0]).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);

  const second = startWorkerProcess({ ...testbed.config, metrics });
  await expect(second).rejects.toThrow(WorkerEndedError);
  await expect(second).rejects.toThrow(`TRIALBED_METRICS: ${metrics} cannot be listened on`);
});
