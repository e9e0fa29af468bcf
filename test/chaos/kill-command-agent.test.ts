import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inject, it } from 'vitest';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed } from '../harness/testbed.ts';
import { killWhileActing } from './killed-agent.ts';

it('kill -9 of the worker while a program acts: its processes end, the attempt is no result, the next one passes', async () => {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const { config, root } = stack.use(await startTestbed(inject('services'), { worker: false, config: { home } }));
  const file = join(home, 'pids.json');
  const agent = { kind: 'command', folder: resolve('test/fixtures/agents/programs'), program: 'python3', args: ['stays.py', file] };
  const suite = await writeOneCaseSuite(home, 'stays', { environment: 'support-desk', agent });
  await killWhileActing({ config, root }, suite, file);
}, 180_000);
