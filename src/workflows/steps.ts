import { proxySinks, type Sinks, type WorkflowInterceptorsFactory, workflowInfo } from '@temporalio/workflow';
import { type Standing, standingNow } from './standing.ts';

/** How the name of the queue begins of a worker that steps through a history. No queue of ours that has real work begins so. */
export const STEPPED_QUEUE = '.trialbed-replay';

/** What happened, as the workflow was told: enough to find the event. */
export type StepCause =
  | { readonly kind: 'started' }
  | { readonly kind: 'activity'; readonly seq: number; readonly local: boolean }
  | { readonly kind: 'timer'; readonly seq: number }
  | { readonly kind: 'signal'; readonly name: string }
  | { readonly kind: 'update'; readonly id: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'other'; readonly name: string };

/** What the workflow's code wants done: a command of the SDK, with what names it. */
export interface WantedCommand {
  /** As the SDK calls it, for example `scheduleActivity`. */
  readonly kind: string;
  /** Number by which later commands and events name it; null: it has none. */
  readonly seq: number | null;
  /** Of an activity, a child workflow, a signal or a patch: which. */
  readonly name: string | null;
}

/** One activation of a workflow: what it was told, what it wanted, and where it then stood. */
export interface Step {
  /** Id of the event with which the workflow task began. */
  readonly historyLength: number;
  readonly causes: readonly StepCause[];
  readonly commands: readonly WantedCommand[];
  readonly standing: Standing;
}

/** Where a workflow tells of its steps. */
export interface StepSinks extends Sinks {
  steps: { took(step: Step): void };
}

const { steps } = proxySinks<StepSinks>();

/** Lets a workflow tell of each of its steps where its history is replayed by {@link STEPPED_QUEUE}, and does nothing anywhere else. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  if (!workflowInfo().taskQueue.startsWith(STEPPED_QUEUE)) return {};
  let causes: StepCause[] = [];
  return {
    internals: [
      {
        activate(input, next) {
          causes.push(...(input.activation.jobs ?? []).map(causeOf));
          next(input);
        },
        concludeActivation(input, next) {
          const output = next(input);
          steps.took({ historyLength: workflowInfo().historyLength, causes, commands: output.commands.map(wantedOf), standing: standingNow() });
          causes = [];
          return output;
        },
      },
    ],
  };
};

type Activation = Parameters<NonNullable<NonNullable<NonNullable<ReturnType<WorkflowInterceptorsFactory>['internals']>[number]>['activate']>>[0]['activation'];
type Job = NonNullable<Activation['jobs']>[number];

function causeOf(job: Job): StepCause {
  if (job.initializeWorkflow) return { kind: 'started' };
  if (job.resolveActivity) return { kind: 'activity', seq: job.resolveActivity.seq ?? 0, local: job.resolveActivity.isLocal === true };
  if (job.fireTimer) return { kind: 'timer', seq: job.fireTimer.seq ?? 0 };
  if (job.signalWorkflow) return { kind: 'signal', name: job.signalWorkflow.signalName ?? '' };
  if (job.doUpdate) return { kind: 'update', id: job.doUpdate.id ?? '' };
  if (job.cancelWorkflow) return { kind: 'cancelled' };
  return { kind: 'other', name: Object.keys(job)[0] ?? '' };
}

/** Fields by which the SDK's commands name what they are about. */
const NAMES = ['activityType', 'workflowType', 'signalName', 'patchId', 'protocolInstanceId', 'timerId'] as const;

function wantedOf(command: object): WantedCommand {
  const [kind = '', body] = Object.entries(command).find(([field, value]) => field !== 'userMetadata' && value !== null && typeof value === 'object') ?? [];
  const fields = (body ?? {}) as { readonly [field: string]: unknown };
  const name = NAMES.map((field) => fields[field]).find((value) => typeof value === 'string');
  return { kind, seq: typeof fields.seq === 'number' ? fields.seq : null, name: typeof name === 'string' ? name : null };
}
