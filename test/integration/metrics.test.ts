import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess, WorkerEndedError } from '../../src/client/worker-process.ts';
import { freePort } from '../../src/infra/ports.ts';
import { startTestbed } from '../harness/testbed.ts';

const REQUEST = { suite: 'support-desk', cases: ['refund-within-policy', 'nothing-to-do'], agents: ['reference', 'do-nothing'], keep: 'never' } as const;

it('a worker serves what its trials came to, beside the metrics of the SDK; an address that is taken is told', async () => {
  await using testbed = await startTestbed(inject('services'), { worker: false });
  const metrics = `127.0.0.1:${await freePort()}`;
  await using worker = await startWorkerProcess({ ...testbed.config, metrics });
  const handle = await run(testbed.root, REQUEST, worker.broken);
  const trials = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toHaveLength(4);

  const lines = (await (await fetch(`http://${metrics}/metrics`)).text()).split('\n');
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
    expect(sumOf('trialbed_attempt_duration_ms_count', `agent="${agent}"`)).toBe(2);
    expect(sumOf('trialbed_attempt_duration_ms_bucket', `agent="${agent}"`, 'le="3600000"')).toBe(2);
  }
  expect(lines.some((line) => line.startsWith('temporal_') && line.includes('activity_type="finishAttempt"'))).toBe(true);

  const second = startWorkerProcess({ ...testbed.config, metrics });
  await expect(second).rejects.toThrow(WorkerEndedError);
  await expect(second).rejects.toThrow(`TRIALBED_METRICS: ${metrics} cannot be listened on`);
});
