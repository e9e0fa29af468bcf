import type { JsonObject } from '../../../../../domain/json.ts';
import type { AgentSession } from '../../../../agent.ts';

/** How an agent calls tools, and how hard it insists. What is to be done is for its brain to say. */
export interface Hands {
  readonly session: AgentSession;
  /** What a read gives. @throws {NoAnswer} */
  read(tool: string, args: JsonObject): Promise<JsonObject>;
  /** Does something once, and tells what became of it. Never throws for what a tool does. */
  write(tool: string, args: JsonObject): Promise<Deed>;
  /** What the user is told where a read gave nothing, so that there is no going on. */
  giveUp(request: string, why: NoAnswer): string;
}

/** What became of something that was to be done. */
export type Deed = { readonly state: 'done' } | { readonly state: 'not_done' | 'unknown'; readonly why: string };

/** A read that cannot be had. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Answers each message of the user by the brain; what cannot be read ends it early. */
export async function converse(hands: Hands, brain: (hands: Hands, request: string) => Promise<string>): Promise<void> {
  const { session } = hands;
  for (let message = await session.receive(); message !== null; message = await session.receive()) {
    const { text } = message;
    const answer = await brain(hands, text).catch((stop: unknown) => (stop instanceof NoAnswer ? hands.giveUp(text, stop) : Promise.reject(stop)));
    await session.reply(answer);
  }
}
