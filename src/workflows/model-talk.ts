import type { CallOutcome, MemberPart } from '../activities/contract.ts';
import { type ModelBudget, NOTHING_SPENT } from '../domain/model-budget.ts';

/** What the models of a trial have used. */
export class ModelUse {
  /** Calls of models that the workflow made. */
  steps = 0;
  spent = NOTHING_SPENT;
  readonly startedAt = Date.now();
}

/** Where the conversation with one model stands. */
export class ModelTalk {
  /** Place of the next message, from 1. */
  seq = 1;
  /** Outcomes of the calls of its last message, of which it has not heard. */
  answers: readonly CallOutcome[] = [];
  /** Messages between user and agents that it was shown. Counted for members of a team alone. */
  shown = 0;
  /** What it has used itself. */
  spent = NOTHING_SPENT;
}

/** A model that acts as a member of a team. */
export interface ModelMember {
  readonly part: MemberPart;
  readonly talk: ModelTalk;
  readonly use: ModelUse;
  /** Its own limits, beside those that all members share. */
  readonly own: ModelBudget;
  /** Number of the user's message that is being dealt with. */
  readonly turn: number;
}
