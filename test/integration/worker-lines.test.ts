import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { workerLogFile } from '../../src/client/worker-log.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';

const SAID = 'sesame\u009b31m';

it('each line of a worker that concerns a trial names it with batch and attempt, and the operation where there is one', { timeout: 120_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-lines-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const testbed = stack.use(await startTestbed(inject('services'), { worker: false }));
  const worker = stack.use(await startWorkerProcess({ ...testbed.config, logLevel: 'debug' }));
  const { suite, agents } = await writeOneCaseSuite(folder, 'told', {
    environment: { use: resolve('test/fixtures/packs/told/pack.ts') },
    agent: { kind: 'module', file: resolve('test/fixtures/agents/teller.ts'), parameters: { text: SAID, visits: 'http://127.0.0.1:9/' } },
  });
  const handle = await run(testbed.root, { suite, agents, keep: 'never' }, worker.broken);
  const { trials } = await handle.result();
  expect(trials).toBe(1);
  const [trial] = await testbed.root.store.trials(handle.id);
  await worker[Symbol.asyncDispose]();

  const text = await readFile(workerLogFile(testbed.config.home), 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly [field: string]: unknown });
  const own = lines.filter((line) => JSON.stringify(line).includes(trial?.id ?? '-'));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((line) => line['trial'] !== trial?.id || line['batch'] !== handle.id)).toEqual([]);
  // What Temporal's SDK itself says of a workflow is of all attempts.
  expect(own.filter((line) => line['attempt'] !== 1 && line['sdkComponent'] !== 'worker')).toEqual([]);
  const words = own.map(({ msg }) => msg);
  for (const expected of ['the attempt begins', 'the attempt has ended']) expect(words).toContain(expected);
  expect(own.find(({ msg }) => msg === 'the attempt has ended')).toMatchObject({ ending: 'completed', calls: 8 });
  const carried = own.filter(({ msg }) => msg === 'an operation was carried out');
  expect(carried.map(({ operation, tool }) => [operation, tool])).toEqual([
    ['op-1', 'keep'],
    ['op-5', 'complain'],
  ]);
  // What was said stands in them at this level, and is no command there.
  expect(text).toContain('sesame\\u009b31m');
  expect(text).not.toContain('\u009b');
});
