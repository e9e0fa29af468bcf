import { setTimeout as pause } from 'node:timers/promises';
import type { ChatMessage } from '../domain/chat.ts';
import type { Judgement } from '../domain/judging.ts';
import { type ModelRoute, priceOf } from '../domain/model.ts';
import type { Rubric } from '../domain/rubric.ts';
import { printable } from '../domain/text/bounded.ts';
import type { ModelClient, TimedReply } from '../models/client.ts';
import { ModelError } from '../models/errors.ts';
import { type AddressPolicy, redactText } from '../models/redact.ts';
import { readReply } from './reply.ts';

export interface AskJudgeOptions {
  readonly models: Pick<ModelClient, 'ask'>;
  readonly route: ModelRoute;
  readonly rubric: Pick<Rubric, 'scale'>;
  /** When raised, no further try begins, and who waits for a turn leaves. A request that is under way is paid for, and its reply is waited for. */
  readonly stop: AbortSignal;
  /** What happens to mail addresses in the judge's words. */
  readonly addresses: AddressPolicy;
  readonly now: () => Date;
}

/** What a judge said, without whose judgement it is. */
export type Asked = Omit<Judgement, 'series' | 'trial' | 'attempt' | 'shortened'>;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const MAX_REASON = 4_000;
const MAX_PROBLEM = 1_000;

/**
 * One judgement. A reply that does not count, and a request that the provider refuses, are errors of this judgement.
 * @throws {ModelError} for trouble of the provider that no try mended, and for a setup that is wrong; `stop`'s reason.
 */
export async function askJudge(messages: readonly ChatMessage[], options: AskJudgeOptions): Promise<Asked> {
  const { route, rubric, addresses, now } = options;
  for (let tries = 1; ; tries++) {
    options.stop.throwIfAborted();
    try {
      const reply = await oneTry(messages, options);
      const { category, reason, problem } = readReply(reply.text, rubric);
      const clean = (text: string, maxText: number) => redactText(text, { secrets: {}, addresses, maxText });
      return {
        category,
        reason: reason === null ? null : clean(reason, MAX_REASON),
        problem: problem && { code: problem.code, message: clean(problem.message, MAX_PROBLEM) },
        usage: reply.usage,
        price: priceOf(reply.usage, route.prices),
        reported: reply.reported,
        latencyMs: reply.latencyMs,
        tries,
        at: now().toISOString(),
      };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      if (error.kind === 'refused') {
        const problem = { code: error.code, message: printable(error.message, MAX_PROBLEM) };
        return { category: null, reason: null, problem, usage: null, price: null, reported: null, latencyMs: null, tries, at: now().toISOString() };
      }
      if (error.kind === 'setup' || tries > route.retries) throw error;
      await pause(error.retryAfterMs ?? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)), undefined, { signal: options.stop });
    }
  }
}

async function oneTry(messages: readonly ChatMessage[], { models, route, stop }: AskJudgeOptions): Promise<TimedReply> {
  const leave = new AbortController();
  let turnAt = 0;
  const stopped = () => {
    if (performance.now() < turnAt) leave.abort(stop.reason);
  };
  stop.addEventListener('abort', stopped, { once: true });
  try {
    return await models.ask(route, { messages, tools: [] }, { signal: leave.signal, waits: (ms) => (turnAt = performance.now() + ms) });
  } finally {
    stop.removeEventListener('abort', stopped);
  }
}
