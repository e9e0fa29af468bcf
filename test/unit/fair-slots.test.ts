import type { SlotPermit } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { FairSlots, type SlotParty } from '../../src/worker/fair-slots.ts';

const RESERVE = { slotType: 'activity', taskQueue: 'q', workerIdentity: 'w', workerBuildId: '', isSticky: false } as const;
const INFO = { type: 'activity', activityType: 'operate' } as const;
const never = new AbortController().signal;

/** A batch that has a task for every slot that it gets, and ends one when it is told. */
class Busy {
  readonly running: SlotPermit[] = [];
  private readonly supplier;
  private readonly id: string;

  constructor(slots: FairSlots, party: SlotParty, tasks: number, log: string[] = []) {
    this.supplier = slots.supplier(party);
    this.id = party.id;
    void this.work(tasks, log);
  }

  end(): void {
    const permit = this.running.shift();
    if (permit) this.supplier.releaseSlot({ permit, slotInfo: INFO });
  }

  private async work(tasks: number, log: string[]): Promise<void> {
    for (let n = 0; n < tasks; n++) {
      const permit = await this.supplier.reserveSlot(RESERVE, never);
      log.push(this.id);
      this.running.push(permit);
      this.supplier.markSlotUsed({ permit, slotInfo: INFO });
    }
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a batch with many tasks leaves half of what becomes free to one with few', async () => {
  const slots = new FairSlots(4);
  const log: string[] = [];
  const large = new Busy(slots, { id: 'large', priority: 3 }, 100, log);
  await settled();
  expect(large.running).toHaveLength(4);
  const small = new Busy(slots, { id: 'small', priority: 3 }, 100, log);
  await settled();
  // One at once, though everything is taken.
  expect(small.running).toHaveLength(1);
  for (let n = 0; n < 3; n++) {
    large.end();
    await settled();
  }
  expect([large.running.length, small.running.length]).toEqual([2, 2]);
  log.length = 0;
  for (let n = 0; n < 10; n++) {
    large.end();
    small.end();
    await settled();
  }
  expect(log.filter((id) => id === 'small')).toHaveLength(10);
});

test('a higher priority comes first, and the lower one still goes on', async () => {
  const slots = new FairSlots(3);
  const low = new Busy(slots, { id: 'low', priority: 5 }, 100);
  await settled();
  const canary = new Busy(slots, { id: 'canary', priority: 1 }, 100);
  await settled();
  for (let n = 0; n < 6; n++) {
    low.end();
    await settled();
  }
  expect(low.running).toHaveLength(1);
  expect(canary.running.length).toBeGreaterThanOrEqual(2);
});

test('slots that are only reserved keep nobody from working', async () => {
  const slots = new FairSlots(2);
  const idle = slots.supplier({ id: 'idle', priority: 3 });
  await idle.reserveSlot(RESERVE, never);
  await idle.reserveSlot(RESERVE, never);
  const busy = new Busy(slots, { id: 'busy', priority: 3 }, 10);
  await settled();
  expect(busy.running).toHaveLength(2);
});

test('a reservation that is not needed any more is given up, and a task at hand takes no slot that another waits for', async () => {
  const slots = new FairSlots(1);
  const first = slots.supplier({ id: 'first', priority: 3 });
  const permit = await first.reserveSlot(RESERVE, never);
  first.markSlotUsed({ permit, slotInfo: INFO });
  const gone = new AbortController();
  const refused = first.reserveSlot(RESERVE, gone.signal);
  gone.abort();
  await expect(refused).rejects.toBe(gone.signal.reason);
  expect(first.tryReserveSlot(RESERVE)).toBeNull();
  first.releaseSlot({ permit });
  expect(first.tryReserveSlot(RESERVE)).not.toBeNull();
});
