import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, it } from 'vitest';
import { loadBundle } from '../../src/worker/bundle.ts';
import { startTestbed } from '../harness/testbed.ts';

/** Saved with the workflow's id in the name: ids made inside the workflow derive from it, and replay must be given the same. */
const SAVED = 'test/histories';

describe('a finished trial', () => {
  it('replays from its history, saved as JSON', async () => {
    await using testbed = await startTestbed(inject('services'));
    const { trials } = await testbed.run({ suite: 'support-desk', cases: ['refund-within-policy'], agents: ['reference', 'hasty'] });
    const workflowBundle = await loadBundle(testbed.config.home);
    expect(trials).toHaveLength(2);
    for (const { trial, agent } of trials) {
      const history = await testbed.root.temporal.workflow.getHandle(trial).fetchHistory();
      const json = historyToJSON(history);
      await Worker.runReplayHistory({ workflowBundle }, historyFromJSON(JSON.parse(json)), trial);
      // Arguments and results of tools stay out of it.
      expect(json).not.toContain(Buffer.from('sofia.lindqvist').toString('base64').slice(0, 16));
      if (process.env.TRIALBED_SAVE_HISTORIES) {
        await mkdir(SAVED, { recursive: true });
        await writeFile(join(SAVED, `${agent}.${trial}.json`), `${json}\n`);
      }
    }
  });
});

describe('saved histories of earlier versions', async () => {
  const files = (await readdir(SAVED)).filter((file) => file.endsWith('.json'));

  it('are there', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  it.each(files)('%s replays against the workflow code of today', async (file) => {
    const workflowBundle = await loadBundle('.trialbed');
    const history = historyFromJSON(JSON.parse(await readFile(join(SAVED, file), 'utf8')));
    await Worker.runReplayHistory({ workflowBundle }, history, workflowIdOf(file));
  });

  it('do not replay when an event is another one, so that the replay above shows something', async () => {
    const [file = ''] = files;
    const workflowBundle = await loadBundle('.trialbed');
    const text = await readFile(join(SAVED, file), 'utf8');
    const events = (JSON.parse(text) as { events: { activityTaskScheduledEventAttributes?: { activityType?: { name?: string } } }[] }).events;
    const scheduled = events.find((event) => event.activityTaskScheduledEventAttributes);
    expect(scheduled?.activityTaskScheduledEventAttributes?.activityType?.name).toBe(file.startsWith('reference') ? 'operate' : 'converse');
    const changed = text.replaceAll(file.startsWith('reference') ? '"operate"' : '"converse"', '"another"');
    await expect(Worker.runReplayHistory({ workflowBundle }, historyFromJSON(JSON.parse(changed)), workflowIdOf(file))).rejects.toThrow(
      DeterminismViolationError,
    );
  });
});

function workflowIdOf(file: string): string {
  return file.split('.')[1] ?? '';
}
