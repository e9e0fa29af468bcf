import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { BatchEnd } from '../activities/batch-contract.ts';
import { type BatchHold, MAX_CONCURRENCY } from '../domain/trial.ts';
import type { batchWindow } from './batch-window.ts';
import {
  BATCH_REFUSED,
  type BatchInput,
  type BatchStatus,
  batchStatusQuery,
  cancelUpdate,
  cancelWindowSignal,
  concurrencyUpdate,
  launchSignal,
  pauseUpdate,
  resumeUpdate,
  shareSignal,
  trialsEndedSignal,
  windowEndedSignal,
  windowId,
} from './batch-messages.ts';
import { type BatchStanding, tells } from './standing.ts';
import { ON_CURRENT_VERSION, steps, Window } from './window.ts';

/**
 * One batch: keeps as many of its trials in flight as it may, until the manifest in the store has none left. Beyond a window's size it has further windows, each a workflow of
 * its own that takes trials from the same manifest. When it is cancelled or terminated, trials that it launched are not: a cancellation asks them to end, and waits for them.
 */
export async function batch(input: BatchInput): Promise<BatchEnd> {
  const run = new BatchRun(input);
  const { cancelRequested } = CancellationScope.current();
  // Whatever asks for the end, trials in flight are graded and counted first.
  cancelRequested.catch(() => run.cancel());
  return CancellationScope.nonCancellable(() => run.toEnd());
}

class BatchRun {
  private readonly input: BatchInput;
  private readonly window: Window;
  private hold: BatchHold | null;
  private concurrency: number;
  /** Further windows that have not ended, by number, with the share that they were told. */
  private readonly windows: Map<number, number>;
  private nextWindow: number;
  private mustCancel = false;
  /** How often it was told of something that the store has too, and how many of these it is just writing there. */
  private changes = 0;
  private writing = 0;

  constructor(input: BatchInput) {
    const { batch: id, carried, concurrency, settings } = input;
    this.input = input;
    this.concurrency = concurrency;
    this.hold = carried?.hold ?? null;
    this.windows = new Map(carried?.windows.map(({ number, share }) => [number, share]));
    this.nextWindow = carried?.nextWindow ?? 1;
    this.window = new Window(id, settings, 0, carried);
    setHandler(launchSignal, (wanted) => this.begin(wanted.concurrency));
    setHandler(trialsEndedSignal, (trials) => this.window.ended(trials));
    setHandler(windowEndedSignal, (window) => {
      for (const number of this.windows.keys()) if (windowId(id, number) === window) this.windows.delete(number);
    });
    setHandler(batchStatusQuery, () => this.status);
    tells('workflow', () => this.standing);
    setHandler(pauseUpdate, () => this.control('paused'), { validator: () => this.refuse(this.hold === 'paused' ? 'The batch is paused already.' : null) });
    setHandler(resumeUpdate, () => this.control(null), { validator: () => this.refuse(this.hold === null ? 'The batch is not paused.' : null) });
    setHandler(concurrencyUpdate, (wanted) => this.setConcurrency(wanted), { validator: (wanted) => this.refuse(concurrencyProblem(wanted)) });
    setHandler(
      cancelUpdate,
      async () => {
        this.cancel();
        return this.status;
      },
      { validator: () => this.refuse(null) },
    );
  }

  async toEnd(): Promise<BatchEnd> {
    const { window, input } = this;
    if (!input.carried) await steps.adoptBatch({ batch: input.batch });
    window.startClock();
    for (;;) {
      await this.spread();
      this.show();
      if (this.mustCancel) await this.cancelAll();
      else if (window.mayLaunch) await this.launch();
      else if (window.mustLook) await window.look();
      else if (this.isOver) {
        const end = await this.end();
        if (end !== null) return end;
      } else await condition(() => this.mustCancel || window.mayLaunch || window.mustLook || this.isOver || this.mustSpread || this.mustContinue);
      if (this.mustContinue) await this.continueAsNew();
    }
  }

  private async launch(): Promise<void> {
    const { window, changes } = this;
    await window.launch();
    if (this.writing > 0) await condition(() => this.writing === 0);
    // What it read in the store may be older than what this workflow was told meanwhile.
    if (changes !== this.changes) window.again();
    else if (window.halt === 'paused') {
      // Of a batch that was paused before this workflow began.
      this.hold ??= 'paused';
      window.halt = null;
    }
  }

  /** Asks for the end of everything; once. */
  cancel(): void {
    if (this.hold === 'cancelling') return;
    this.hold = 'cancelling';
    this.mustCancel = true;
  }

  private begin(concurrency: number): void {
    this.concurrency = concurrency;
    this.changes++;
    if (this.hold !== 'cancelling') this.window.again();
  }

  private async control(hold: 'paused' | null): Promise<BatchStatus> {
    this.hold = hold;
    if (hold === null) this.window.again();
    this.writing++;
    try {
      await steps.controlBatch({ batch: this.input.batch, hold });
    } finally {
      this.changes++;
      this.writing--;
    }
    return this.status;
  }

  private async setConcurrency(concurrency: number): Promise<BatchStatus> {
    this.concurrency = concurrency;
    await steps.controlBatch({ batch: this.input.batch, concurrency });
    return this.status;
  }

  private refuse(why: string | null): void {
    const problem = this.hold === 'cancelling' ? 'The batch is being cancelled.' : why;
    if (problem !== null) throw ApplicationFailure.nonRetryable(problem, BATCH_REFUSED);
  }

  private get status(): BatchStatus {
    return { hold: this.hold, concurrency: this.concurrency, inFlight: this.window.inFlight.size };
  }

  private get standing(): BatchStanding {
    return { kind: 'batch', ...this.status, exhausted: this.window.exhausted, windows: this.windows.size };
  }

  /** How many windows share what may be in flight, this one included. */
  private get shares(): readonly number[] {
    const all = this.hold === null && !this.window.exhausted ? this.concurrency : 0;
    const count = Math.max(1, Math.ceil(all / this.input.settings.windowSize));
    return Array.from({ length: count }, (_, index) => Math.floor((all + count - 1 - index) / count));
  }

  private get mustSpread(): boolean {
    const [own = 0, ...others] = this.shares;
    const told = [...this.windows.values()].filter((share) => share > 0);
    return this.window.share !== own || told.length !== others.length || told.some((share, index) => share !== others[index]);
  }

  /** Gives every window its share: starts those that are missing, ends those that are too many. */
  private async spread(): Promise<void> {
    const [own = 0, ...others] = this.shares;
    this.window.share = own;
    if (others.length === 0 && this.windows.size === 0) return;
    const { batch: id, settings } = this.input;
    const running = [...this.windows].filter(([, share]) => share > 0);
    for (const [index, [number, told]] of running.entries()) {
      const share = others[index] ?? 0;
      if (share === told) continue;
      this.windows.set(number, share);
      // One that ended meanwhile has said so, or is found to be gone.
      await getExternalWorkflowHandle(windowId(id, number))
        .signal(shareSignal, share)
        .catch(() => this.windows.delete(number));
    }
    for (const share of others.slice(running.length)) {
      const number = this.nextWindow++;
      this.windows.set(number, share);
      try {
        await startChild<typeof batchWindow>('batchWindow', {
          workflowId: windowId(id, number),
          args: [{ batch: id, number, share, settings }],
          // It outlives a run of this one, and looks itself whether the batch is still there.
          parentClosePolicy: ParentClosePolicy.ABANDON,
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    }
  }

  private async cancelAll(): Promise<void> {
    this.mustCancel = false;
    await steps.controlBatch({ batch: this.input.batch, hold: 'cancelling' });
    for (const number of this.windows.keys())
      await getExternalWorkflowHandle(windowId(this.input.batch, number))
        .signal(cancelWindowSignal)
        .catch(() => this.windows.delete(number));
    await this.window.cancel();
  }

  /** Nothing is in flight, and nothing is to be launched. */
  private get isOver(): boolean {
    const { inFlight, exhausted, halt } = this.window;
    return inFlight.size === 0 && this.windows.size === 0 && (exhausted || halt !== null || this.hold === 'cancelling');
  }

  private async end(): Promise<BatchEnd | null> {
    const { window } = this;
    const halt = this.hold === 'cancelling' ? 'cancelled' : window.halt;
    const end = await steps.endBatch({ batch: this.input.batch, halt });
    if (end === null) {
      log.info('the batch has trials that were opened again', { batch: this.input.batch });
      window.again();
    }
    return end;
  }

  private get mustContinue(): boolean {
    return this.window.mustContinue && !this.mustCancel && !this.isOver && allHandlersFinished();
  }

  private async continueAsNew(): Promise<void> {
    const { window, hold, concurrency, nextWindow } = this;
    const windows = [...this.windows].map(([number, share]) => ({ number, share }));
    const carried = { inFlight: [...window.inFlight], hold, exhausted: window.exhausted, windows, nextWindow };
    await makeContinueAsNewFunc<typeof batch>(ON_CURRENT_VERSION)({ ...this.input, concurrency, carried });
  }

  /** What the Temporal UI shows. */
  private show(): void {
    const { inFlight } = this.window;
    const state = this.hold ?? this.window.halt ?? (this.window.exhausted ? 'everything is launched' : 'launching');
    setCurrentDetails(
      `Batch ${this.input.batch}: ${state}, ${inFlight.size} of at most ${this.concurrency} trials in flight, ${this.windows.size} further windows`,
    );
  }
}

function concurrencyProblem(wanted: unknown): string | null {
  const fits = typeof wanted === 'number' && Number.isSafeInteger(wanted) && wanted >= 1 && wanted <= MAX_CONCURRENCY;
  return fits ? null : `The number of trials in flight must be a whole number from 1 to ${MAX_CONCURRENCY}.`;
}
