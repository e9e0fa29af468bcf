import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { AttemptRef } from '../activities/contract.ts';
import { batchOf } from '../domain/trial.ts';

/** Whose step it is that a line of the log was written in. */
export interface StepFields {
  readonly trial: string;
  readonly batch: string;
  readonly attempt: number;
  readonly operation?: string;
}

const steps = new AsyncLocalStorage<StepFields>();

/** Of the step that is being taken; nothing outside of one. */
export function fieldsOfStep(): StepFields | Record<string, never> {
  return steps.getStore() ?? {};
}

/** Every line that is written while an activity runs belongs to its trial, those of the SDK too. */
export const loggedAsStep: ActivityInterceptorsFactory = () => {
  let fields: StepFields | null = null;
  return {
    inbound: {
      execute(input, next) {
        fields = fieldsOf(input.args[0]);
        return fields ? steps.run(fields, () => next(input)) : next(input);
      },
    },
    outbound: {
      // The SDK's own `attempt` is the how-manieth try of the step.
      getLogAttributes: ({ attempt, activityType, ...input }, next) => next({ ...input, step: activityType, try: attempt, ...fields }),
    },
  };
};

function fieldsOf(request: unknown): StepFields | null {
  const { trial, attempt, operation } = (request ?? {}) as Partial<AttemptRef> & { readonly operation?: unknown };
  if (typeof trial !== 'string' || typeof attempt !== 'number') return null;
  return { trial, batch: batchOf(trial), attempt, ...(typeof operation === 'string' && { operation }) };
}
