import { condition, getExternalWorkflowHandle, makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { batchWorkflowId, cancelWindowSignal, shareSignal, trialsEndedSignal, windowEndedSignal, type WindowInput } from './batch-messages.ts';
import { tells } from './standing.ts';
import { ON_CURRENT_VERSION, Window } from './window.ts';

/** A further window of a large batch: takes trials from the same manifest, as many as its batch lets it, and ends when it has none in flight and may launch no more. */
export async function batchWindow(input: WindowInput): Promise<void> {
  const { batch, settings, carried } = input;
  const window = new Window(batch, settings, input.share, carried);
  let mustCancel = false;
  setHandler(trialsEndedSignal, (trials) => window.ended(trials));
  setHandler(shareSignal, (share) => {
    window.share = share;
    if (share > 0) window.again();
  });
  setHandler(cancelWindowSignal, () => {
    mustCancel = true;
  });
  tells('workflow', () => ({ kind: 'batch', hold: null, concurrency: window.share, inFlight: window.inFlight.size, exhausted: window.exhausted, windows: 0 }));
  const isOver = () => window.inFlight.size === 0 && !window.mayLaunch && !mustCancel;
  window.startClock();
  while (!isOver()) {
    if (mustCancel) {
      mustCancel = false;
      await window.cancel();
    } else if (window.mayLaunch) await window.launch();
    else if (window.mustLook) await window.look();
    else await condition(() => mustCancel || window.mayLaunch || window.mustLook || isOver() || window.mustContinue);
    if (window.mustContinue && !mustCancel && !isOver())
      await makeContinueAsNewFunc<typeof batchWindow>(ON_CURRENT_VERSION)({
        ...input,
        share: window.share,
        carried: { inFlight: [...window.inFlight], exhausted: window.exhausted },
      });
  }
  // A batch that is no more need not know.
  await getExternalWorkflowHandle(batchWorkflowId(batch))
    .signal(windowEndedSignal, workflowInfo().workflowId)
    .catch(() => undefined);
}
