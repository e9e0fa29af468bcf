import type { CustomSlotSupplier, SlotInfo, SlotPermit } from '@temporalio/worker';

/** Whose tasks take slots. */
export interface SlotParty {
  readonly id: string;
  /** 1 is served first, 5 last. May change while it is served. */
  priority: number;
}

/**
 * Slots of one kind that several batches of a process share, so that a large batch does not starve a small one. Of those that wait for a slot, one that has none comes first;
 * then the higher priority; then the one that uses fewest; then the one that has waited for longest. Each may always have one, so no priority and no number of batches keeps
 * another from going on: the process may then run a few tasks more than `total`.
 *
 * A worker reserves a slot before it knows of any task. Slots that are only reserved do not keep a batch that has work from getting one after the other.
 */
export class FairSlots {
  private readonly total: number;
  private readonly parties = new Map<string, Account>();
  private readonly waiting: Waiting[] = [];

  constructor(total: number) {
    this.total = total;
  }

  /** The part of a worker that asks for the slots of one batch. */
  supplier<SI extends SlotInfo>(party: SlotParty): CustomSlotSupplier<SI> {
    const account = this.parties.get(party.id) ?? { party, reserved: 0, used: 0 };
    this.parties.set(party.id, account);
    return {
      type: 'custom',
      reserveSlot: (_context, signal) => this.reserve(account, signal),
      tryReserveSlot: () => (this.mayTakeAtOnce(account) ? this.permit(account) : null),
      markSlotUsed: ({ permit }) => {
        const slot = permit as Slot;
        if (slot.state !== 'reserved') return;
        slot.state = 'used';
        account.reserved--;
        account.used++;
        this.grant();
      },
      releaseSlot: ({ permit }) => {
        const slot = permit as Slot;
        if (slot.state === 'free') return;
        if (slot.state === 'used') account.used--;
        else account.reserved--;
        slot.state = 'free';
        this.grant();
      },
    };
  }

  /** A batch whose workers have ended. */
  leave(id: string): void {
    this.parties.delete(id);
    this.grant();
  }

  private get used(): number {
    return this.sum(({ used }) => used);
  }

  private sum(of: (account: Account) => number): number {
    let sum = 0;
    for (const account of this.parties.values()) sum += of(account);
    return sum;
  }

  private reserve(account: Account, signal: AbortSignal): Promise<SlotPermit> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { account, take: () => resolve(this.permit(account)) };
      const onAbort = (): void => {
        const at = this.waiting.indexOf(waiting);
        if (at < 0) return;
        this.waiting.splice(at, 1);
        // The SDK knows by this very reason that it asked for it.
        reject(signal.reason);
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiting.push(waiting);
      this.grant();
    });
  }

  private permit(account: Account): Slot {
    account.reserved++;
    return { state: 'reserved' };
  }

  /** Whether one more may be reserved now, whoever else waits. */
  private fits({ reserved, used }: Account): boolean {
    if (reserved + used === 0) return true;
    const total = this.used;
    if (total >= this.total) return false;
    return reserved === 0 || total + this.sum((account) => account.reserved) < this.total;
  }

  /** A task that is at hand already takes a slot unless somebody waits who has fewer. */
  private mayTakeAtOnce(account: Account): boolean {
    if (this.used + account.reserved >= this.total) return account.used + account.reserved === 0;
    return !this.waiting.some((waiting) => waiting.account !== account && waiting.account.used < account.used);
  }

  private grant(): void {
    for (;;) {
      const next = this.waiting.filter(({ account }) => this.fits(account)).sort(byClaim)[0];
      if (!next) return;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      next.take();
    }
  }
}

interface Account {
  readonly party: SlotParty;
  /** Slots that a worker has reserved and has no task for. */
  reserved: number;
  used: number;
}

interface Slot extends SlotPermit {
  state: 'reserved' | 'used' | 'free';
}

interface Waiting {
  readonly account: Account;
  readonly take: () => void;
}

/** Those that came earlier stand earlier in the list, and the sort keeps that. */
function byClaim({ account: a }: Waiting, { account: b }: Waiting): number {
  const holds = ({ reserved, used }: Account): number => reserved + used;
  return Number(holds(a) > 0) - Number(holds(b) > 0) || a.party.priority - b.party.priority || holds(a) - holds(b);
}
