import type { ConversationEnd, OperateResult, UserMove, UserTurn } from '../activities/contract.ts';
import type { OperationProblem } from '../domain/operation.ts';
import { printable } from '../domain/text/bounded.ts';
import type { OperationOutcome } from './operations/operation.ts';

export interface DialogueOptions {
  /** Messages that the user may send, the first one and answers to questions included. */
  readonly budget: number;
  /** Lets the user hear what was said and answer with message number `turn`. */
  readonly answer: (request: { readonly turn: number; readonly operation: string | null; readonly last: boolean }) => Promise<UserMove>;
}

/**
 * A simulated user, who answers one thing after the other: questions that are asked at the same time are answered in the order in which the door accepted them.
 * The workflow's history is the authority on this order.
 */
export class Dialogue {
  /** How the conversation ended, where that is no doing of the agent's program: the budget of turns, or a fault of the simulated user. */
  over: ConversationEnd | null = null;
  private readonly options: DialogueOptions;
  /** The user's messages so far; the first is the request. */
  private said = 1;
  /** Of these and those that are due. */
  private due = 1;
  private left = false;
  private before: Promise<unknown> = Promise.resolve();

  constructor(options: DialogueOptions) {
    this.options = options;
  }

  get turns(): number {
    return this.said;
  }

  get budget(): number {
    return this.options.budget;
  }

  /** Why no question is taken any more; null: it is. Asking beyond the budget ends the conversation. */
  refusal(): OperationProblem | null {
    if (this.over === null && this.due >= this.budget && !this.left) this.over = this.exhausted();
    return this.over?.problem ?? null;
  }

  /** A question that the door has let through. Never rejects for what the user does. */
  ask(operation: string): Promise<OperationOutcome<OperateResult | null>> {
    this.due++;
    return this.inTurn(async () => {
      const failed = (problem: OperationProblem) => ({ state: 'failed', reason: 'definite', problem, disturbed: false }) as const;
      if (this.over || this.left) return failed(this.over?.problem ?? USER_LEFT);
      const move: UserMove = await this.answer(operation, false);
      if (move.kind === 'said') return { state: 'committed', value: null, disturbed: false } as const;
      return failed(move.kind === 'failed' ? move.problem : USER_LEFT);
    });
  }

  /** The agent has ended its turn with a message. */
  next(): Promise<UserTurn> {
    return this.inTurn(async (): Promise<UserTurn> => {
      if (this.over) return { kind: 'over', end: this.over };
      if (this.left) return { kind: 'left' };
      const last = this.due >= this.budget;
      if (!last) this.due++;
      const move = await this.answer(null, last);
      if (this.over) return { kind: 'over', end: this.over };
      return move.kind === 'said' && !this.left ? { kind: 'said', turn: this.said } : { kind: 'left' };
    });
  }

  private async answer(operation: string | null, last: boolean): Promise<UserMove> {
    const move: UserMove = await this.options.answer({ turn: this.said + 1, operation, last });
    if (move.kind === 'said') this.said++;
    if (move.kind === 'left' || (move.kind === 'said' && move.leaves)) this.left = true;
    if (move.kind === 'over_budget') this.over = this.exhausted();
    if (move.kind === 'failed')
      this.over = { ending: 'user_error', problem: { ...move.problem, message: printable(move.problem.message, MAX_PROBLEM_LENGTH) } };
    return move;
  }

  private exhausted(): ConversationEnd {
    return { ending: 'budget_exhausted', problem: { code: 'budget_exhausted', message: `The budget of ${this.budget} turns is used up.` } };
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.before.then(work);
    this.before = result.catch(() => {});
    return result;
  }
}

const MAX_PROBLEM_LENGTH = 2_000;

const USER_LEFT: OperationProblem = { code: 'user_left', message: 'The user has left the conversation.' };
