import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import type { Root } from '../../src/worker/root.ts';
import type { TrialStatus } from '../../src/workflows/messages.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
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
  const environment = { use: resolve('test/fixtures/packs/blob/pack.ts'), with: { salt } };
  const write: Blobs['write'] = (agent, kase = {}) => writeOneCaseSuite(folder, `${salt}-${++count}`, { environment, agent, kase });
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

/** The trial, once its agent acts and so many of its calls are in flight. */
export async function acting(root: Root, inFlight: number): Promise<string> {
  const deadline = Date.now() + 40_000;
  while (Date.now() < deadline) {
    for (const batch of await root.store.batches({})) {
      for (const trial of await root.store.trials(batch.id)) {
        if (trial.phase !== 'drive') continue;
        const status = await root.temporal.workflow.getHandle(trial.id).query<TrialStatus>('status');
        if (status.inFlight.length === inFlight) return trial.id;
      }
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('no trial came so far');
}
