import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { decodeTimeoutType } from '@temporalio/common';
import { expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { endLeftover, startMark } from '../../src/infra/process.ts';
import { LOST_AFTER } from '../../src/workflows/messages.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';
import { until } from './until.ts';

async function bed(stack: AsyncDisposableStack) {
  const home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  return { home, ...stack.use(await startTestbed(inject('services'), { worker: false, config: { home } })) };
}

async function trialsOf(handle: Awaited<ReturnType<typeof run>>): Promise<readonly TrialSummary[]> {
  const trials: TrialSummary[] = [];
  for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  return trials;
}

it('kill -9 of the worker while a tool server has a call: the server ends with it, and the call is made once by the next', async () => {
  await using stack = new AsyncDisposableStack();
  const { home, config, root } = await bed(stack);
  const file = join(home, 'served');
  const environment = { use: resolve('test/fixtures/packs/served/pack.ts'), with: { file } };
  const agent = { kind: 'script', steps: [{ call: 'act', with: { how: '', body: 'once' } }], answer: 'Done.' };
  const suite = await writeOneCaseSuite(home, 'served', { environment, agent });
  const doomed = await startWorkerProcess({ ...config, failpoints: [{ name: 'server_serves_before_call', hit: 1 }] });
  const handle = await run(root, { ...suite, keep: 'never' }, new Promise(() => {}));
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  const pids = (await readFile(`${file}.pids`, 'utf8')).trim().split('\n').map(Number);
  for (const pid of pids) await until(`process ${pid} has ended`, async () => (await startMark(pid)) === null);
  await using _survivor = await startTrialWorker(root);
  const trials = await trialsOf(handle);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1, disturbed: true }]);
  const record = await root.store.record(trials[0]?.trial ?? '', 1);
  expect(record?.operations).toMatchObject([{ told: 'committed', known: 'committed', disturbed: true }]);
  expect(record?.effects).toMatchObject([{ table: 'notes', operation: 'op-1' }]);
}, 180_000);

it('kill -9 of the worker while it makes a slow world: the next worker hears of it by the missed heartbeat, and need not wait for the step’s time-out', async () => {
  await using stack = new AsyncDisposableStack();
  const { home, config, root } = await bed(stack);
  const environment = { use: resolve('test/fixtures/packs/served/pack.ts'), with: { file: join(home, 'served') } };
  const agent = { kind: 'script', steps: [{ call: 'act', with: { how: '', body: 'once' } }], answer: 'Done.' };
  const suite = await writeOneCaseSuite(home, 'served', { environment, agent });
  const doomed = await startWorkerProcess({ ...config, failpoints: [{ name: 'world_leased_before_recorded', hit: 1 }] });
  const handle = await run(root, { ...suite, keep: 'never' }, new Promise(() => {}));
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(root);
  const trials = await trialsOf(handle);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 1 }]);
  const { events } = await root.temporal.workflow.getHandle(trials[0]?.trial ?? '').fetchHistory();
  const scheduled = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: step }) => step ?? []);
  expect(scheduled.map(({ activityType }) => activityType?.name)).toEqual(expect.arrayContaining(['provision', 'releaseWorld']));
  for (const { activityType, heartbeatTimeout } of scheduled)
    expect([activityType?.name, Number(heartbeatTimeout?.seconds ?? 0)]).toEqual([activityType?.name, Number.parseInt(LOST_AFTER, 10)]);
  const lost = (events ?? []).flatMap(({ activityTaskStartedEventAttributes: step }) => step?.lastFailure?.timeoutFailureInfo ?? []);
  expect(lost.map(({ timeoutType }) => decodeTimeoutType(timeoutType))).toEqual(['HEARTBEAT']);
}, 180_000);

it('kill -9 of the worker in the part of a team’s second member: the attempt is no result, the next one begins with the first', async () => {
  await using stack = new AsyncDisposableStack();
  const { home, config, root } = await bed(stack);
  const file = join(home, 'pids.json');
  const place = join(home, 'team');
  await mkdir(place);
  await writeFile(join(place, 'a.yaml'), stringify({ kind: 'module', file: resolve('test/fixtures/agents/team/passes-on.ts'), parameters: { to: 'b' } }));
  const program = { kind: 'command', folder: resolve('test/fixtures/agents/programs'), program: 'python3', args: ['stays.py', file] };
  await writeFile(join(place, 'b.yaml'), stringify(program));
  const members = { a: { agent: 'a.yaml', does: 'Begins.' }, b: { agent: 'b.yaml', does: 'Goes on.' } };
  const suite = await writeOneCaseSuite(home, 'team', { environment: 'support-desk', agent: { kind: 'team', start: 'a', members } });
  const doomed = await startWorkerProcess(config);
  const handle = await run(root, { ...suite, keep: 'never' }, new Promise(() => {}));
  const pids = await until('the second member acts', async () => JSON.parse(await readFile(file, 'utf8')) as number[]);
  for (const pid of pids) {
    const mark = await startMark(pid);
    stack.defer(() => void endLeftover(pid, mark ?? '', [], 1_000));
  }
  process.kill(doomed.pid, 'SIGKILL');
  await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
  await using _survivor = await startTrialWorker(root);
  const trials = await trialsOf(handle);
  expect(trials).toMatchObject([{ ending: 'completed', attempt: 2 }]);
  const record = await root.store.record(trials[0]?.trial ?? '', 2);
  expect(record?.handOvers).toMatchObject([{ from: 'a', to: 'b', operation: 'op-1' }]);
}, 180_000);
