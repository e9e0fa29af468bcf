import type { ModelBudget } from '../domain/model-budget.ts';
import type { ModelUsage, Money } from '../domain/model.ts';
import type { OperationProblem } from '../domain/operation.ts';
import type { CallOutcome, CallRef, MemberPart, UserMove, UserRequest, WorldAttempt } from './contract.ts';

/** What the workflow has to know of an agent that is a model. */
export interface ModelPlan {
  readonly budget: ModelBudget;
  /** Messages of the user. */
  readonly turns: number;
}

/** One call of the agent's model. What was said before lies in the store; history carries places and outcomes alone. */
export interface ModelStep extends WorldAttempt {
  /** Ordinal of the call, from 1. */
  readonly step: number;
  /** Number of the user's message that is being answered, from 1. */
  readonly turn: number;
  /** The message is new: it comes before the call. `hand_over`: a member of a team gets the conversation, with what was said since it had it. */
  readonly opens: boolean | 'hand_over';
  /** Place of the next message in the conversation, from 1. */
  readonly seq: number;
  /** Outcomes of the calls of the message before, in its order. */
  readonly answers: readonly CallOutcome[];
  /** Operation ids that were given out so far. */
  readonly calls: number;
  /** Calls of tools that the budget still permits. Of a message that asks for more, one more is proposed, for the door to refuse. */
  readonly callsLeft: number;
  /** The agent's own time that is left, milliseconds. */
  readonly limitMs: number;
  /** Of a team: whose part it is. Absent: the agent is no team. */
  readonly part?: MemberPart;
  /** Of a team: messages between user and agents that the member has been shown. */
  readonly shown?: number;
}

export type ModelMove =
  | {
      readonly kind: 'replied';
      /** Calls of tools in the order of the message. None: the turn is over, and what was said is the answer. */
      readonly calls: readonly CallRef[];
      /** Place of the next message. */
      readonly seq: number;
      readonly usage: ModelUsage | null;
      readonly price: Money | null;
      readonly latencyMs: number;
      /** Of a team: messages between user and agents so far. */
      readonly shown?: number;
    }
  /** The agent's own time was over before the reply was there. */
  | { readonly kind: 'out_of_time' }
  /** The provider will not take this request, or the reply is none of the form that the agent's file declares. */
  | { readonly kind: 'failed'; readonly problem: OperationProblem };

/** Calls of models, on a task queue of their own. Implemented in `src/activities/model-agent`. */
export interface ModelActivities {
  /** Idempotent by step: a reply that is in the store is not asked for again. Retried while the provider is limited, broken or silent. */
  callModel(request: ModelStep): Promise<ModelMove>;
  /** Lets a simulated user that is a model hear and answer. Idempotent by turn, and retried, as a call of an agent's model is; what no try mends is a fault of the user. */
  askUserModel(request: UserRequest): Promise<UserMove>;
}
