import { proxyLocalActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { BatchActivities, Halt } from '../activities/batch-contract.ts';
import type { BatchSettings } from './batch-messages.ts';

/** Most trials that are launched in one step: a step is short, so that what comes meanwhile is heard soon. */
const MAX_STEP = 50;

/** A store or a server that is away for hours costs a batch nothing but time: every step is tried until it is done. */
export const steps = proxyLocalActivities<BatchActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** A trial ends where it began; a batch goes on, with its next run, on the version that is current by then. */
export const ON_CURRENT_VERSION = { initialVersioningBehavior: 'AUTO_UPGRADE' } as const;

/**
 * A sliding window over a batch's manifest: which of its trials are in flight. A step of it (a page of starts, a look for lost ones) is one local activity and so one event;
 * ends that were reported while it was under way are taken together.
 */
export class Window {
  /** Trials that it may have in flight. */
  share: number;
  /** The manifest has no trial left that nobody has launched. */
  exhausted: boolean;
  /** Why it launches nothing; null: it does. */
  halt: Halt | null = null;
  readonly inFlight: Set<string>;
  /** Ends that it heard of in this run. */
  ends = 0;
  private readonly batch: string;
  private readonly settings: BatchSettings;
  /** Ends of trials that are being launched just now. */
  private readonly early = new Set<string>();
  private launching = false;
  private lookDue = false;
  private clock: Promise<void> | null = null;
  /** In flight at the last look: only these are asked for one by one. */
  private seen: ReadonlySet<string> = new Set();

  constructor(
    batch: string,
    settings: BatchSettings,
    share: number,
    carried: { readonly inFlight: readonly string[]; readonly exhausted: boolean } | undefined,
  ) {
    this.batch = batch;
    this.settings = settings;
    this.share = share;
    this.inFlight = new Set(carried?.inFlight);
    this.exhausted = carried?.exhausted ?? false;
  }

  ended(trials: readonly string[]): void {
    for (const trial of trials) {
      if (this.inFlight.delete(trial)) this.ends++;
      else if (this.launching) this.early.add(trial);
    }
  }

  get mayLaunch(): boolean {
    return !this.exhausted && this.halt === null && this.inFlight.size < this.share;
  }

  get mustLook(): boolean {
    return this.lookDue && this.inFlight.size > 0;
  }

  get mustContinue(): boolean {
    const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged: deployed } = workflowInfo();
    // Once a run at most for a deploy: a version that has no worker yet is no reason to go round in circles.
    return continueAsNewSuggested || this.ends >= this.settings.endsPerRun || (deployed && this.ends > 0);
  }

  /** One step of launching. */
  async launch(): Promise<void> {
    this.launching = true;
    const room = Math.min(MAX_STEP, this.share - this.inFlight.size);
    const { started, exhausted, halt } = await steps.launchTrials({ ...this.place, room });
    this.launching = false;
    for (const trial of started) if (!this.early.delete(trial)) this.inFlight.add(trial);
    this.early.clear();
    this.exhausted = exhausted;
    this.halt = halt;
    this.startClock();
  }

  /** Finds trials that ended and could not say so. */
  async look(): Promise<void> {
    this.lookDue = false;
    const longer = [...this.inFlight].filter((trial) => this.seen.has(trial));
    if (longer.length > 0) this.ended(await steps.findEnded({ ...this.place, inFlight: longer }));
    this.seen = new Set(this.inFlight);
    this.startClock();
  }

  /** Asks everything that is under way to end. */
  async cancel(): Promise<void> {
    this.launching = true;
    const asked = await steps.cancelTrials(this.place);
    this.launching = false;
    for (const trial of asked) if (!this.early.has(trial)) this.inFlight.add(trial);
    this.early.clear();
    this.halt = 'cancelled';
    this.startClock();
  }

  /** Begins the manifest again: it may have trials that were opened again. */
  again(): void {
    this.exhausted = false;
    this.halt = null;
  }

  private get place() {
    const { workflowId, taskQueue } = workflowInfo();
    return { batch: this.batch, window: workflowId, taskQueue, inFlight: [...this.inFlight] };
  }

  /** One timer for many steps: a time-out of every wait would be two events each. */
  startClock(): void {
    if (this.clock !== null || this.inFlight.size === 0) return;
    this.clock = sleep(this.settings.reconcileMs).then(() => {
      this.clock = null;
      this.lookDue = true;
    });
    this.clock.catch(() => undefined);
  }
}
