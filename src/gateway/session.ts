import { printable } from '../domain/text/bounded.ts';
import type { CallResult } from '../environments/agent.ts';
import type { ToolSchema } from '../environments/world.ts';
import { type CallAnswer, refusal } from './answer.ts';

const MAX_IN_FLIGHT = 8;
/** Calls that wait in order for one of those to end; more are refused. */
const MAX_WAITING = 64;
/** Late attempts of one session that are noted; a flood of them says nothing more. */
const MAX_LATE = 100;

export interface SessionEvents {
  /** From now on the agent waits for a call. */
  readonly busy: () => void;
  /** No call is in flight or waits any more. */
  readonly idle: () => void;
  /** A call beyond the budget was refused. */
  readonly exhausted: (problem: { readonly code: string; readonly message: string }) => void;
  /** A call met trouble of the harness. */
  readonly failed: (error: unknown) => void;
}

export interface SessionOptions {
  /** Tools that this trial permits. */
  readonly tools: readonly ToolSchema[];
  /** Calls that the agent may make, refused ones included. Those beyond it are never carried. */
  readonly budget: number;
  /** Carries one call to its outcome. */
  readonly carry: (tool: string, args: unknown, idempotencyKey: string | null) => Promise<CallResult>;
  /** Notes what came after the session's end. */
  readonly late: (detail: string) => Promise<void>;
  readonly events: SessionEvents;
}

interface Waiting {
  readonly tool: string;
  readonly args: unknown;
  readonly idempotencyKey: string | null;
  readonly answer: (answer: CallAnswer) => void;
}

/** The calls of one attempt's agent, whichever way they came in. */
export class TrialSession {
  readonly tools: readonly ToolSchema[];
  private readonly options: SessionOptions;
  private readonly waiting: Waiting[] = [];
  private inFlight = 0;
  private counted = 0;
  private late = 0;
  private ended = false;
  private whenIdle: (() => void)[] = [];

  constructor(options: SessionOptions) {
    this.options = options;
    this.tools = options.tools;
  }

  /** Takes no more calls. */
  get closed(): boolean {
    return this.ended;
  }

  /**
   * Carries a call to its outcome, after those that came before it where too many are in flight. What becomes of whoever asked changes nothing: the call
   * is carried out and recorded. Never rejects.
   */
  call(tool: string, args: unknown, idempotencyKey: string | null): Promise<CallAnswer> {
    if (this.ended) return Promise.resolve(ENDED);
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.resolve(refusal('too_many_calls', `${MAX_IN_FLIGHT} calls are in flight and ${MAX_WAITING} wait; wait for some of them before the next.`));
    }
    if (this.inFlight === 0 && this.waiting.length === 0) this.options.events.busy();
    return new Promise((answer) => {
      this.waiting.push({ tool, args, idempotencyKey, answer });
      this.pump();
    });
  }

  /** Waits until no call is in flight or waits. */
  async idle(): Promise<void> {
    while (this.inFlight > 0 || this.waiting.length > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  /** Takes no more calls. Those that wait are refused; those in flight go on, and whoever asked is told of their end. */
  close(): void {
    this.ended = true;
    for (const { answer } of this.waiting.splice(0)) answer(ENDED);
  }

  /** Notes a request that came after the end. @throws what the ledger threw */
  async noteLate(request: string): Promise<void> {
    if (++this.late <= MAX_LATE) await this.options.late(`${printable(request, 200)} with the token of an attempt that has ended`);
  }

  private pump(): void {
    while (this.inFlight < MAX_IN_FLIGHT) {
      const next = this.waiting.shift();
      if (!next) return;
      this.inFlight++;
      this.serve(next)
        .then(next.answer)
        .finally(() => {
          this.inFlight--;
          this.pump();
          if (this.inFlight > 0) return;
          this.options.events.idle();
          for (const resolve of this.whenIdle.splice(0)) resolve();
        });
    }
  }

  private async serve({ tool, args, idempotencyKey }: Waiting): Promise<CallAnswer> {
    const { budget, carry, events } = this.options;
    if (this.counted >= budget) {
      const problem = { code: 'budget_exhausted', message: `The budget of ${budget} calls is used up.` };
      events.exhausted(problem);
      return refusal(problem.code, problem.message);
    }
    this.counted++;
    try {
      return await carry(tool, args, idempotencyKey);
    } catch (error) {
      events.failed(error);
      return { operation: null, state: 'unknown', result: null, problem: { code: 'harness', message: 'The test bed could not carry out the call.' } };
    }
  }
}

const ENDED = refusal('door_closed', 'The conversation has ended; no call is taken any more.');
