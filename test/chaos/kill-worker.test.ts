import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import { keepWorld } from '../../src/activities/keep-world.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { WorldGoneError } from '../../src/environments/world.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { startTestbed } from '../harness/testbed.ts';
import { type Observed, observed } from './observed.ts';

/**
 * Every place where a kill hits another race, see `src/worker/failpoints.ts`; at which hit, and which attempt counts then.
 * The case's calls are three short reads, a write (the fourth), a mail (the fifth).
 */
const FAILPOINTS: readonly (readonly [name: string, hit: number, attempt: number])[] = [
  ['entered_provision', 1, 1],
  ['world_made_before_leased', 1, 1],
  ['world_leased_before_recorded', 1, 1],
  ['entered_drive', 1, 1],
  ['dispatched_before_write', 1, 1],
  ['dispatched_before_write', 4, 1],
  ['tool_wrote_before_commit', 4, 1],
  ['committed_before_reply', 1, 1],
  ['committed_before_reply', 4, 1],
  ['committed_before_reply', 5, 1],
  // The mail is stored and its reply lost: a script would see another reply than without the kill, so the trial begins anew.
  ['mail_stored_before_reply', 1, 2],
  ['service_replied_before_ledger', 1, 2],
  ['entered_fence', 1, 1],
  ['fence_closed_before_sessions_ended', 1, 1],
  ['fenced_before_grade', 1, 1],
  ['entered_grade', 1, 1],
  ['recorded_before_verdict', 1, 1],
  ['entered_release', 1, 1],
  ['world_reset_before_free', 1, 1],
  ['released_before_finished', 1, 1],
  ['finished_before_reported', 1, 1],
  ['trials_started_before_noted', 1, 1],
];

/** A case that writes rows, a ticket and a mail, so that each failpoint is passed. */
const REQUEST = { suite: 'support-desk', cases: ['refund-within-policy'], agents: ['reference'], keep: 'never' } as const;

/** Shared, so that the workflow bundle is built once. */
let home: string;
let undisturbed: Observed;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  await using testbed = await startTestbed(inject('services'), { config: { home } });
  const { trials } = await testbed.run(REQUEST);
  undisturbed = await observed(testbed.root.store, trials[0] as TrialSummary);
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe.concurrent('kill -9 of the worker', () => {
  it.each(FAILPOINTS)(
    'at %s, hit %i: one verdict, the same as without it, and no world leaks',
    async (name, hit, attempt) => {
      await using testbed = await startTestbed(inject('services'), { worker: false, config: { home } });
      const { config, root } = testbed;
      const doomed = await startWorkerProcess({ ...config, failpoints: [{ name, hit }] });
      const handle = await run(root, REQUEST, new Promise(() => {}));
      // The failpoint must have been hit, or this test would show nothing.
      await expect(doomed.broken).rejects.toThrow('was ended by SIGKILL');
      await using _survivor = await startTrialWorker(root);

      const trials: TrialSummary[] = [];
      for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
      expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt }]);
      expect(await observed(root.store, trials[0] as TrialSummary)).toEqual(undisturbed);
      const attempts = await root.store.attempts(trials[0]?.trial ?? '');
      expect(attempts.map(({ ending, counts }) => [ending, counts])).toEqual(
        attempt === 1
          ? [['completed', true]]
          : [
              ['infra_error', false],
              ['completed', true],
            ],
      );
      expect(await root.worlds.leased(`${handle.id}-`)).toBe(0);
    },
    180_000,
  );
});

it('what repeats the keeping of a world after its release finds the snapshot, as after a worker that was killed between two reports', async () => {
  await using testbed = await startTestbed(inject('services'), { config: { home } });
  const { root } = testbed;
  const { trials } = await testbed.run({ ...REQUEST, keep: 'always' });
  const { trial = '', attempt = 1, snapshot = null } = trials[0] ?? {};
  const [row] = await root.store.attempts(trial);
  if (!row?.world) throw new Error('the attempt had no world');
  const at = { trial, attempt, world: { ...row.world, isolation: 'schema', epoch: 1 } as const };
  await expect(root.worlds.open(at.world)).rejects.toThrow(WorldGoneError);
  expect(await keepWorld(root, at)).toBe(snapshot);
  await expect(keepWorld(root, { ...at, attempt: attempt + 1 })).rejects.toThrow(WorldGoneError);
});
