import { condition, defineUpdate, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';

const ordinary = proxyActivities<{ empty(): Promise<void> }>({ startToCloseTimeout: '1 minute' });
const local = proxyLocalActivities<{ empty(): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** As many empty activities as a trial has, of each kind: what Temporal alone costs. */
export async function bare(ordinaries: number, locals: number): Promise<void> {
  for (let n = 0; n < locals; n++) await local.empty();
  for (let n = 0; n < ordinaries; n++) await ordinary.empty();
}

const answerUpdate = defineUpdate<void, [asLocal: boolean]>('answer');

/** Answers so many Updates, each with one empty activity. */
export async function answering(updates: number): Promise<void> {
  let answered = 0;
  setHandler(answerUpdate, async (asLocal) => {
    await (asLocal ? local : ordinary).empty();
    answered++;
  });
  await condition(() => answered === updates);
}
