import type { ModelClient } from '../../models/client.ts';
import { ModelError } from '../../models/errors.ts';
import type { Exceeded, ModelAccount } from './account.ts';

/** What the conversation has to hear of model calls. */
export interface ModelEvents {
  /** The agent waits for a rate limit, and no longer: none of its own time. */
  readonly waiting: () => void;
  readonly served: () => void;
  /** Gives back, when what it returns is called, the agent's own time since: a try failed that the agent has nothing to do with. */
  readonly mark: () => () => void;
  /** The agent asked for more than its budget, or its last reply went beyond it. */
  readonly exhausted: (problem: { readonly code: string; readonly message: string }) => void;
  /** Key, route or record failed: the harness's trouble. */
  readonly failed: (error: unknown) => void;
}

export interface PassOptions {
  readonly account: ModelAccount;
  readonly client: Pick<ModelClient, 'take'>;
  readonly events: ModelEvents;
  /** Ends calls that are under way, with the attempt. */
  readonly signal: AbortSignal;
  /** Told of each call; it never rejects. */
  readonly track: (call: Promise<void>) => void;
  /** Counts a request that is no call of a model. */
  readonly other: () => void;
}

/** Whoever asks. */
export interface ModelClientSide {
  readonly headers: Headers;
  /** Raised when it hangs up. */
  readonly signal: AbortSignal;
  /** Breaks its connection off. */
  readonly hangUp: () => void;
}

/** Tells the conversation what a call has made of its budget. */
export function tell(events: ModelEvents, { over, unmeasured }: Exceeded): void {
  if (unmeasured !== null) events.failed(new ModelError('setup', 'model_unmeasured', unmeasured));
  if (over !== null) events.exhausted({ code: 'budget_exhausted', message: over });
}
