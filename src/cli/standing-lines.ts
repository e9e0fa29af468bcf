import type { BatchStands } from '../client/api.ts';
import type { Hint } from './hint.ts';

/** Lines for whoever follows a batch that somebody else has paused, resumed, changed or cancelled. */
export class StandingLines {
  private last: BatchStands | null = null;

  lines(now: BatchStands, hint: Hint): readonly string[] {
    const { last } = this;
    this.last = now;
    const { batch, hold, concurrency } = now;
    const lines: string[] = [];
    if (hold === 'paused' && last?.hold !== 'paused') lines.push(`paused: nothing is launched until "${hint(`resume ${batch}`)}"`);
    if (hold === 'cancelling' && last?.hold !== 'cancelling') lines.push('cancelled: nothing more is launched, and what is in flight is being ended');
    if (hold === null && last?.hold === 'paused' && now.state === 'running') lines.push('resumed');
    if (last !== null && last.concurrency !== concurrency) lines.push(`at most ${concurrency} trials in flight from now on`);
    return lines;
  }
}
