import type { WorkerOptions } from '@temporalio/worker';
import type { Config } from './config.ts';
import { FairSlots, type SlotParty } from './fair-slots.ts';

/** As the SDK has it where nobody says otherwise. */
const WORKFLOW_TASKS = 40;

type SlotOptions = Pick<WorkerOptions, 'tuner' | 'maxConcurrentActivityTaskExecutions' | 'maxConcurrentLocalActivityExecutions'>;

/** How many tasks a process does at once, of each kind. Workers of several batches share them; one that serves a single queue has them all, without asking anybody. */
export class WorkerSlots {
  private readonly config: Config['worker'];
  private readonly activities: FairSlots;
  private readonly local: FairSlots;
  private readonly talks: FairSlots;
  private readonly calls: FairSlots;

  constructor(config: Config['worker']) {
    this.config = config;
    this.activities = new FairSlots(config.activities);
    this.local = new FairSlots(config.activities);
    this.talks = new FairSlots(config.activities);
    this.calls = new FairSlots(config.modelCalls);
  }

  /** Of the worker that runs workflows and everything short. */
  trials(party?: SlotParty): SlotOptions {
    const { activities: count } = this.config;
    return party ? shared(party, this.activities, this.local) : { maxConcurrentActivityTaskExecutions: count, maxConcurrentLocalActivityExecutions: count };
  }

  /** Of conversations with agents that have code of their own. */
  conversations(party?: SlotParty): SlotOptions {
    return party ? shared(party, this.talks) : { maxConcurrentActivityTaskExecutions: this.config.activities };
  }

  /** Its workers have ended: what they have not given back is free. */
  leave({ id }: SlotParty): void {
    for (const slots of [this.activities, this.local, this.talks, this.calls]) slots.leave(id);
  }

  /** Of calls of models. */
  models(party?: SlotParty): SlotOptions {
    return party ? shared(party, this.calls) : { maxConcurrentActivityTaskExecutions: this.config.modelCalls };
  }
}

/** `local` absent: the worker runs no workflows, and so nothing local. */
function shared(party: SlotParty, activities: FairSlots, local?: FairSlots): SlotOptions {
  return {
    tuner: {
      workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: WORKFLOW_TASKS },
      activityTaskSlotSupplier: activities.supplier(party),
      localActivityTaskSlotSupplier: local?.supplier(party) ?? { type: 'fixed-size', numSlots: 1 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
  };
}
