import { describe, expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTestbed } from '../harness/testbed.ts';

/** Every place where a kill hits another race; see `src/worker/failpoints.ts`. */
const FAILPOINTS = [
  'entered_provision',
  'world_leased_before_recorded',
  'entered_drive',
  'dispatched_before_write',
  'tool_wrote_before_commit',
  'committed_before_reply',
  'service_replied_before_ledger',
  'entered_fence',
  'fenced_before_grade',
  'entered_grade',
  'recorded_before_verdict',
  'entered_release',
  'released_before_finished',
];

/** A case that writes rows, a ticket and a mail, so that each failpoint is passed. */
const CASE = 'refund-within-policy';

describe.concurrent('kill -9 of the worker', () => {
  it.each(FAILPOINTS)(
    'at %s: one verdict, no world leaks',
    async (name) => {
      await using testbed = await startTestbed(inject('services'), { worker: false });
      const { config, root } = testbed;
      const doomed = await startWorkerProcess({ ...config, failpoints: [{ name, hit: 1 }] });
      const handle = await run(root, { suite: 'support-desk', cases: [CASE], agents: ['reference'] }, new Promise(() => {}));
      // The failpoint must have been hit, or this test would show nothing.
      await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
      await using _worker = await startWorkerProcess(config);

      const trials: TrialSummary[] = [];
      for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
      expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass' }]);
      const trial = trials[0]?.trial ?? '';
      const verdicts = await root.store.verdicts(trial);
      expect(verdicts.filter((verdict) => verdict.current)).toHaveLength(1);
      const record = await root.store.record(trial, trials[0]?.attempt ?? 0);
      const committed = record?.operations.filter((operation) => operation.known === 'committed').map((operation) => operation.id);
      expect(new Set(committed).size).toBe(record?.operations.length);
      expect(await root.worlds.leased(`${handle.id}-`)).toBe(0);
    },
    180_000,
  );
});
