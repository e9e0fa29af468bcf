import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { freePort } from '../../src/infra/ports.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { type Start, startAgentServer } from '../harness/agent-server.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';
import { acting } from '../integration/core-trials.ts';
import { until } from './until.ts';

it('kill -9 of the worker while a call of an agent elsewhere is in flight: the agent hears its result from the next worker, and nothing is done twice', async () => {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const gateway = { port: await freePort(), url: null };
  const { config, root } = stack.use(await startTestbed(inject('services'), { worker: false, config: { home, gateway } }));

  const heard: Json[] = [];
  let lost = 0;
  const insist = async ({ gateway, token }: Start, tool: string, args: JsonObject): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'call-id': randomUUID() };
    for (;;) {
      const response = await fetch(`${gateway}/tools/${tool}`, { method: 'POST', headers, body: JSON.stringify(args) }).catch(() => null);
      if (response && response.status !== 503) return void heard.push((await response.json()) as Json);
      lost++;
      await sleep(100);
    }
  };
  let answer: string | null = null;
  const server = stack.use(
    await startAgentServer({
      'POST works': async ({ response, start }) => {
        response.writeHead(202, { location: `/status/${start.turn}` }).end();
        await insist(start, 'add_note', { body: 'before' });
        await insist(start, 'wait', { ms: 4_000 });
        await insist(start, 'add_note', { body: 'after' });
        answer = 'I noted it.';
      },
      'GET status': ({ response }) => (answer === null ? response.writeHead(202).end() : response.end(answer)),
    }),
  );
  const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt: 'kill-gateway' } };
  const suite = await writeOneCaseSuite(home, 'works', { environment, agent: { kind: 'http', url: `${server.url}/works`, timeouts: { poll: '200ms' } } });

  const doomed = await startWorkerProcess(config);
  const handle = await run(root, { ...suite, keep: 'never' }, new Promise(() => {}));
  await until('the first call was heard', async () => heard.length === 1);
  await acting(root, 1);
  process.kill(doomed.pid, 'SIGKILL');
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(root);

  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1, calls: 3 }]);
  expect(lost).toBeGreaterThan(0);
  expect(heard).toMatchObject([1, 2, 3].map((n) => ({ operation: `op-${n}`, state: 'committed' })));
  expect(server.seen.filter((line) => line === 'POST /works')).toHaveLength(1);
  const record = await root.store.record(trials[0]?.trial ?? '', 1);
  expect(record?.operations.map(({ id, tool, known }) => `${id} ${tool} ${known}`)).toEqual([
    'op-1 add_note committed',
    'op-2 wait committed',
    'op-3 add_note committed',
  ]);
  expect(record?.effects.map((effect) => ('after' in effect ? effect.after?.['body'] : null))).toEqual(['before', 'after']);
  expect(record?.messages.map(({ from, text }) => `${from}: ${text}`)).toEqual(['user: Do it.', 'agent: I noted it.']);
}, 120_000);
