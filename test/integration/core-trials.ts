import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Testbed } from '../harness/testbed.ts';

/** Suites over the pack `blob`, written for one test file. */
export interface Blobs extends AsyncDisposable {
  /** Writes a suite of one case with an agent and gives their paths. */
  write(agent: JsonObject, kase?: JsonObject): Promise<{ readonly suite: string; readonly agents: readonly [string] }>;
  /** Runs an agent on a case of which nothing is expected. */
  run(agent: JsonObject, kase?: JsonObject): Promise<TrialSummary>;
  record(trial: TrialSummary): Promise<TrialRecord>;
}

export const moduleAgent = (file: string, parameters: JsonObject = {}): JsonObject => ({
  kind: 'module',
  file: resolve('test/fixtures/agents', file),
  parameters,
});

export async function blobs(testbed: Testbed, salt: string): Promise<Blobs> {
  const folder = await mkdtemp(join(tmpdir(), 'trialbed-blobs-'));
  let count = 0;
  const write: Blobs['write'] = async (agent, kase = {}) => {
    const name = `${salt}-${++count}`;
    const suite = join(folder, name);
    await mkdir(join(suite, 'cases'), { recursive: true });
    await writeFile(
      join(suite, 'suite.yaml'),
      stringify({
        name,
        title: name,
        environment: { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt } },
        user: { name: 'mara', role: 'agent' },
        clock: '2026-03-02T09:30:00+01:00',
        timezone: 'Europe/Berlin',
      }),
    );
    const plain = {
      title: name,
      kind: 'test',
      request: 'Do it.',
      expect: { outcomes: [{ name: 'nothing changed', effects: [] }] },
      expects_nothing: true,
      reference: { steps: [], answer: 'Done.' },
    };
    await writeFile(join(suite, 'cases', 'only.yaml'), stringify({ ...plain, ...kase }));
    await writeFile(join(suite, 'agent.yaml'), stringify({ name: 'agent', version: '1', ...agent }));
    return { suite, agents: [join(suite, 'agent.yaml')] };
  };
  const trialOf = (trials: readonly TrialSummary[]): TrialSummary => {
    const [trial] = trials;
    if (!trial) throw new Error('the batch has no trial');
    return trial;
  };
  return {
    write,
    run: async (agent, kase) => trialOf((await testbed.run({ ...(await write(agent, kase)), keep: 'never' })).trials),
    async record(trial) {
      const record = await testbed.root.store.record(trial.trial, trial.attempt);
      if (!record) throw new Error('the trial has no record');
      return record;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
