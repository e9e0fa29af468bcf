import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { loadBundle } from '../../src/worker/bundle.ts';
import { HISTORY_SCENARIOS } from './history-scenarios.ts';

/**
 * Saved with the workflow's id in the name: ids made inside the workflow derive from it, and replay must be given the same.
 * `TRIALBED_SAVE_HISTORIES=1 vitest run test/integration/replay.test.ts` runs every scenario and saves its history beside those of earlier releases, which stay.
 */
const SAVED = 'test/histories';

/** What each scenario must have come to, or its history would not be of the shape that it is kept for. */
const CAME_TO: { readonly [scenario: string]: Partial<TrialSummary> } = {
  reference: { ending: 'completed', pass: 'pass', attempt: 1 },
  hasty: { ending: 'completed', attempt: 1 },
  parallel: { ending: 'completed', calls: 6, attempt: 1 },
  refused: { ending: 'completed', calls: 5, attempt: 1 },
  timeout: { ending: 'agent_timeout', calls: 1, attempt: 1 },
  cancelled: { ending: 'cancelled', calls: 1, attempt: 1 },
  approval: { ending: 'completed', calls: 3, attempt: 1 },
  decided: { ending: 'completed', calls: 2, attempt: 1 },
  killed: { ending: 'completed', pass: 'pass', disturbed: true, attempt: 1 },
  team: { ending: 'completed', calls: 4, attempt: 1 },
  model: { ending: 'completed', calls: 2, attempt: 1 },
};

describe('a finished trial replays from its history, saved as JSON', () => {
  it.each(HISTORY_SCENARIOS)(
    '$name',
    async ({ name, run }) => {
      let replayed = 0;
      await run(async (testbed, trial) => {
        expect(trial).toMatchObject(CAME_TO[name] ?? {});
        const json = historyToJSON(await testbed.root.temporal.workflow.getHandle(trial.trial).fetchHistory());
        const workflowBundle = await loadBundle(testbed.config.home);
        await Worker.runReplayHistory({ workflowBundle }, historyFromJSON(JSON.parse(json)), trial.trial);
        // Arguments and results of tools stay out of it.
        expect(json).not.toContain(Buffer.from('sofia.lindqvist').toString('base64').slice(0, 16));
        if (process.env.TRIALBED_SAVE_HISTORIES) await save(name, trial.trial, json);
        replayed++;
      });
      expect(replayed).toBe(1);
    },
    120_000,
  );
});

describe.skipIf(process.env.TRIALBED_SAVE_HISTORIES)('saved histories of earlier versions', async () => {
  const files = (await readdir(SAVED)).filter((file) => file.endsWith('.json'));

  it('there is one of every scenario', () => {
    expect([...new Set(files.map((file) => file.split('.')[0]))].sort()).toEqual(HISTORY_SCENARIOS.map(({ name }) => name).sort());
  });

  it.each(files)('%s replays against the workflow code of today', async (file) => {
    const workflowBundle = await loadBundle('.trialbed');
    const history = historyFromJSON(JSON.parse(await readFile(join(SAVED, file), 'utf8')));
    await Worker.runReplayHistory({ workflowBundle }, history, workflowIdOf(file));
  });

  it('a scenario shows in its history what it is kept for', async () => {
    const kinds = async (name: string): Promise<string[]> => {
      const text = await readFile(join(SAVED, files.find((file) => file.startsWith(`${name}.`)) ?? ''), 'utf8');
      return (JSON.parse(text) as { events: { eventType: string }[] }).events.map(({ eventType }) => eventType.replace('EVENT_TYPE_', ''));
    };
    const count = (all: readonly string[], kind: string): number => all.filter((one) => one === kind).length;
    const parallel = await kinds('parallel');
    expect(count(parallel, 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBe(6);
    // Calls were accepted while earlier ones were in flight.
    expect(parallel.lastIndexOf('WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBeLessThan(parallel.lastIndexOf('WORKFLOW_EXECUTION_UPDATE_COMPLETED') - 1);
    expect(count(await kinds('refused'), 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBe(5);
    expect(count(await kinds('cancelled'), 'WORKFLOW_EXECUTION_CANCEL_REQUESTED')).toBe(1);
    const decided = await kinds('decided');
    expect(count(decided, 'WORKFLOW_EXECUTION_SIGNALED')).toBe(1);
    // Two calls and a decision.
    expect(count(decided, 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBe(3);
    const continued = await kinds('continued');
    expect(count(continued, 'MARKER_RECORDED')).toBeGreaterThan(0);
    // Trials are no children.
    expect(count(continued, 'CHILD_WORKFLOW_EXECUTION_COMPLETED')).toBe(0);
    const steered = await kinds('steered');
    expect(count(steered, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED')).toBe(3);
    expect(steered.lastIndexOf('WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toBeLessThan(steered.lastIndexOf('WORKFLOW_EXECUTION_SIGNALED'));
    const window = await kinds('window');
    // A page of starts, and the end that its batch is told.
    expect(count(window, 'MARKER_RECORDED')).toBeGreaterThan(0);
    expect(count(window, 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED')).toBe(1);
    const killed = await kinds('killed');
    expect(count(killed, 'ACTIVITY_TASK_TIMED_OUT') + count(killed, 'ACTIVITY_TASK_FAILED')).toBeGreaterThan(0);
  });

  it('do not replay when an event is another one, so that the replay above shows something', async () => {
    const file = files.find((one) => one.startsWith('reference.')) ?? '';
    const workflowBundle = await loadBundle('.trialbed');
    const text = await readFile(join(SAVED, file), 'utf8');
    expect(text).toContain('"operate"');
    const changed = text.replaceAll('"operate"', '"another"');
    await expect(Worker.runReplayHistory({ workflowBundle }, historyFromJSON(JSON.parse(changed)), workflowIdOf(file))).rejects.toThrow(
      DeterminismViolationError,
    );
  });
});

/** Without the name of the machine that it ran on. */
async function save(scenario: string, trial: string, json: string): Promise<void> {
  await mkdir(SAVED, { recursive: true });
  await writeFile(join(SAVED, `${scenario}.${trial}.json`), `${json.replace(/"\d+@[^"]*"/g, '"worker"')}\n`);
}

function workflowIdOf(file: string): string {
  return file.slice(file.indexOf('.') + 1, -'.json'.length);
}
