import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { type Observed, observed } from '../chaos/observed.ts';
import { mails, rows, script, startBench } from './bench.ts';

/** Charge, mark, notify; then the agent looks at what it has done. */
const AGENT = script(
  [
    { call: 'charge', with: { account: 'a-1', amount: 10 }, key: 'charge', as: 'charge' },
    { call: 'mark', with: { account: 'a-1', status: 'charged' } },
    { call: 'send_mail', with: { to: ['one@example.org'], subject: 'Your charge', text: 'We have charged you.' }, as: 'mail' },
    { call: 'charge', with: { account: 'a-1', amount: 10 }, key: 'charge', as: 'again' },
  ],
  'Charge ${charge.id} (${again.id}), told by ${mail!state} mail.',
);
const KASE: JsonObject = {
  expect: {
    outcomes: [
      {
        name: 'charged and told',
        effects: [
          { row: 'charges', change: 'insert', where: { account: 'a-1', amount: 10 } },
          { row: 'accounts', change: 'update', where: { id: 'a-1', status: 'charged' }, only: ['status'] },
          { mail: ['one@example.org'], subject: 'Your charge' },
        ],
      },
    ],
  },
  expects_nothing: false,
};

/** Shared, so that the workflow bundle is built once. */
let home: string;
let undisturbed: Observed;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trialbed-public-'));
  await using bench = await startBench(inject('services'), { config: { home } });
  const { trial } = await bench.play({ agent: AGENT, kase: KASE });
  undisturbed = await observed(bench.testbed.root.store, trial);
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe.concurrent('public-06: kill -9 of the worker between an effect and its result', () => {
  it.each([
    ['the mail is committed, before its result is recorded', 'committed_before_reply', 3, 1],
    ['the charge is committed, before its result is recorded', 'committed_before_reply', 1, 1],
    ['the account is marked, before its result is recorded', 'committed_before_reply', 2, 1],
    ['the charge is written, before it commits', 'tool_wrote_before_commit', 1, 1],
    // Its reply is lost with the worker: the trial begins anew, in a world without that mail.
    ['the mail is stored, before its reply', 'mail_stored_before_reply', 1, 2],
  ] as const)(
    'public-06: after %s: one charge, one mail, and the verdict of the run that nothing interrupted',
    async (_when, name, hit, attempt) => {
      await using bench = await startBench(inject('services'), { worker: false, config: { home } });
      const { config, root } = bench.testbed;
      const doomed = await startWorkerProcess({ ...config, failpoints: [{ name, hit }] });
      const handle = await run(root, { ...(await bench.write({ agent: AGENT, kase: KASE })), keep: 'never' }, new Promise(() => {}));
      await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
      await using _survivor = await startTrialWorker(root);
      const trials: TrialSummary[] = [];
      for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
      expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt }]);
      const [trial] = trials;
      if (!trial) throw new Error('the batch has no trial');
      const { record } = await bench.stored(trial);
      expect(rows(record, 'charges').map(({ operation }) => operation)).toEqual(['op-1']);
      expect(mails(record).map(({ operation }) => operation)).toEqual(['op-3']);
      expect(record.operations[3]).toMatchObject({ replayOf: 'op-1', result: record.operations[0]?.result });
      expect(await observed(root.store, trial)).toEqual(undisturbed);
      expect(await root.worlds.leased(`${handle.id}-`)).toBe(0);
    },
    180_000,
  );
});
