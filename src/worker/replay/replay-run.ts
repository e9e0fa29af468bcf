import { type InjectedSinks, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import type { TraceSinks } from '../../workflows/attempt-trace.ts';
import { type Step, type StepSinks, STEPPED_QUEUE } from '../../workflows/steps.ts';
import type { WorkflowBundle } from '../bundle.ts';
import { createLog } from '../log.ts';
import { installSdkRuntime } from '../sdk-runtime.ts';
import { type Divergence, divergenceAt } from './divergence.ts';
import { type HistoryRun, protoOf } from './history.ts';

/** What came of replaying one run. */
export interface ReplayedHistory {
  /** Null: the code does what it did. */
  readonly divergence: Divergence | null;
  /** Every step of the workflow's code, up to where it diverged. */
  readonly steps: readonly Step[];
}

/** Replays one run, whose payloads are plain, against the workflow code of a bundle. Nothing is carried out: activities, timers and messages are answered from the history. */
export async function replayRun(
  { run, events }: HistoryRun,
  { workflow, bundle }: { readonly workflow: string; readonly bundle: WorkflowBundle },
): Promise<ReplayedHistory> {
  // What the SDK would log of a failure is told by the result.
  installSdkRuntime(createLog('silent'), null);
  const steps: Step[] = [];
  const sinks: InjectedSinks<StepSinks & TraceSinks> = {
    steps: { took: { fn: (_info, step) => void steps.push(step), callDuringReplay: true } },
    traces: { span: { fn: () => undefined } },
  };
  const options = { workflowBundle: bundle, replayName: STEPPED_QUEUE, sinks };
  try {
    await Worker.runReplayHistory(options, protoOf(events), workflow);
    return { divergence: null, steps };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const kind = error instanceof DeterminismViolationError ? 'another_way' : error.name === 'ReplayError' ? 'task_fails' : null;
    if (kind === null) throw error;
    return { divergence: divergenceAt({ run, events }, steps, { kind, details: error.message }), steps };
  }
}
