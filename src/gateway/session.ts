import type { CallResult } from '../environments/agent.ts';
import type { ToolSchema } from '../environments/world.ts';
import type { ModelClient } from '../models/client.ts';
import { type CallAnswer, refusal } from './answer.ts';
import { type CallRequest, digestOfCall } from './call-request.ts';
import type { ModelAccount } from './models/account.ts';
import type { SessionPlace } from './tokens.ts';
import type { PassOptions } from './models/asking.ts';

const MAX_IN_FLIGHT = 8;
/** Calls that wait in order for one of those to end; more are refused. */
const MAX_WAITING = 64;
/** Requests of one session that are no call: no JSON, too large, nothing there, the same call again. */
const MAX_NO_CALLS = 1_000;
/** Late attempts of one session that are noted; a flood of them says nothing more. */
const MAX_LATE = 100;

export interface SessionEvents {
  /** From now on the agent waits for a call. */
  readonly busy: () => void;
  /** No call is in flight or waits any more. */
  readonly idle: () => void;
  /** Gives back, when what it returns is called, what the agent has used of its own time since. */
  readonly mark: () => () => void;
  /** A call beyond the budget was refused, or a request beyond what is borne of others. */
  readonly exhausted: (problem: { readonly code: string; readonly message: string }) => void;
  /** A call met trouble of the harness. */
  readonly failed: (error: unknown) => void;
}

/** A call's name and what tells it from another call of that name. */
export interface CallName {
  readonly id: string;
  readonly digest: string;
}

export interface SessionOptions {
  /** Tools that this trial permits. */
  readonly tools: readonly ToolSchema[];
  /** Calls that the agent may make, refused ones included. Those beyond it are never carried. */
  readonly budget: number;
  /** Carries one call to its outcome. A name that it has carried before is the same operation. */
  readonly carry: (tool: string, args: unknown, idempotencyKey: string | null, name: CallName | null) => Promise<CallResult>;
  /** Calls that an earlier worker has taken: how many, and those that had a name. Default: none. */
  readonly before?: { readonly calls: number; readonly names: readonly CallName[] };
  /** Models that its agent may ask through the gateway, and what it tells of others. */
  readonly models: { readonly account: ModelAccount; readonly client: Pick<ModelClient, 'take'> };
  /** Notes what came after the session's end. */
  readonly late: (request: string) => Promise<void>;
  readonly events: SessionEvents;
}

interface Waiting {
  readonly request: CallRequest;
  readonly name: CallName | null;
  /** It was counted when it came first. */
  readonly repeated: boolean;
  readonly answer: (answer: CallAnswer) => void;
}

/** The calls of one attempt's agent, whichever way they came in. */
export class TrialSession {
  readonly tools: readonly ToolSchema[];
  /** Whose it is. */
  readonly place: Pick<SessionPlace, 'trial' | 'attempt'>;
  private readonly options: SessionOptions;
  private readonly waiting: Waiting[] = [];
  /** By name; with the answer while it is under way. */
  private readonly named = new Map<string, { readonly digest: string; answer: Promise<CallAnswer> | null }>();
  private inFlight = 0;
  private counted: number;
  private others = 0;
  private late = 0;
  private refusedCalls = 0;
  private ended: CallAnswer | null = null;
  private whenIdle: (() => void)[] = [];

  readonly models: PassOptions;
  private readonly stop = new AbortController();
  private readonly asking = new Set<Promise<void>>();

  constructor(place: Pick<SessionPlace, 'trial' | 'attempt'>, options: SessionOptions) {
    this.place = place;
    this.options = options;
    this.tools = options.tools;
    this.counted = options.before?.calls ?? 0;
    for (const { id, digest } of options.before?.names ?? []) this.named.set(id, { digest, answer: null });
    const { models, events } = options;
    this.models = {
      ...models,
      events: { waiting: events.busy, served: events.idle, mark: events.mark, exhausted: (problem) => this.exhaust(problem), failed: events.failed },
      signal: this.stop.signal,
      track: (call) => this.track(call),
      other: () => this.noteOther(),
    };
  }

  /** Takes no more calls. */
  get closed(): boolean {
    return this.ended !== null;
  }

  /** Calls that were refused since the budget was used up; none of them was sent. */
  get beyondBudget(): number {
    return this.refusedCalls;
  }

  /**
   * Carries a call to its outcome, after those that came before it where too many are in flight. What becomes of whoever asked changes nothing: the call
   * is carried out and recorded. Never rejects.
   */
  call(request: CallRequest): Promise<CallAnswer> {
    if (this.ended) return Promise.resolve(this.ended);
    const { callId } = request;
    if (callId === null) return this.enqueue(request, null, false);
    const digest = digestOfCall(request);
    const before = this.named.get(callId);
    if (before) {
      this.noteOther();
      if (before.digest !== digest) return Promise.resolve(refusal('call_id_conflict', 'A call of this id had another tool or other arguments.'));
      return before.answer ?? this.enqueue(request, { id: callId, digest }, true);
    }
    const entry = { digest, answer: null as Promise<CallAnswer> | null };
    this.named.set(callId, entry);
    entry.answer = this.enqueue(request, { id: callId, digest }, false).then((answer) => {
      entry.answer = null;
      // What never was a call leaves its name free.
      if (answer.operation === null) this.named.delete(callId);
      return answer;
    });
    return entry.answer;
  }

  /** Counts a request that is no call. */
  noteOther(): void {
    if (++this.others !== MAX_NO_CALLS + 1 || this.ended) return;
    this.exhaust({ code: 'too_many_requests', message: `The agent sent more than ${MAX_NO_CALLS} requests that are no call.` });
  }

  /** Ends the conversation for what is no call, once those in flight have ended. */
  private exhaust(problem: { readonly code: string; readonly message: string }): void {
    const still = this.inFlight === 0 && this.waiting.length === 0;
    if (still) this.options.events.busy();
    this.options.events.exhausted(problem);
    if (still) this.options.events.idle();
  }

  /** Waits until no call is in flight or waits. */
  async idle(): Promise<void> {
    while (this.inFlight > 0 || this.waiting.length > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  /** Takes no more calls. Those that wait are refused; those in flight go on, and whoever asked is told of their end. */
  close(answer: CallAnswer = ENDED): void {
    this.ended ??= answer;
    for (const { answer: tell } of this.waiting.splice(0)) tell(this.ended);
    this.stop.abort(new Error('the conversation has ended'));
  }

  /** Waits until all calls of models have ended, which they do with the session, and are recorded. */
  async settled(): Promise<void> {
    while (this.asking.size > 0) await Promise.all(this.asking);
  }

  /** Notes a request that came after the end. @throws what `late` threw */
  async noteLate(request: string): Promise<void> {
    if (++this.late <= MAX_LATE) await this.options.late(request);
  }

  private enqueue(request: CallRequest, name: CallName | null, repeated: boolean): Promise<CallAnswer> {
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.resolve(refusal('too_many_calls', `${MAX_IN_FLIGHT} calls are in flight and ${MAX_WAITING} wait; wait for some of them before the next.`));
    }
    if (this.inFlight === 0 && this.waiting.length === 0) this.options.events.busy();
    return new Promise((answer) => {
      this.waiting.push({ request, name, repeated, answer });
      this.pump();
    });
  }

  private track(call: Promise<void>): void {
    this.asking.add(call);
    void call.finally(() => this.asking.delete(call));
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

  private async serve({ request, name, repeated }: Waiting): Promise<CallAnswer> {
    const { budget, carry, events } = this.options;
    if (!repeated && this.counted >= budget) {
      this.refusedCalls++;
      const problem = { code: 'budget_exhausted', message: `The budget of ${budget} calls is used up.` };
      events.exhausted(problem);
      return refusal(problem.code, problem.message);
    }
    if (!repeated) this.counted++;
    try {
      return await carry(request.tool, request.args, request.idempotencyKey, name);
    } catch (error) {
      events.failed(error);
      return { operation: null, state: 'unknown', result: null, problem: { code: 'harness', message: 'The test bed could not carry out the call.' } };
    }
  }
}

const ENDED = refusal('door_closed', 'The conversation has ended; no call is taken any more.');
