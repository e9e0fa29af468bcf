import type { ConversationEnd, HandedOver, MemberPart } from '../activities/contract.ts';
import type { Door } from './door.ts';

/** How a team's conversation ended, and the hand-overs on the way. */
export interface TeamEnd extends ConversationEnd {
  readonly handOvers: readonly HandedOver[];
}

/**
 * Plays a team: one member acts at a time, until it hands over or the conversation ends. Each hand-over is a call within the trial's budget, so that two who
 * give the conversation to each other come to an end.
 */
export async function playTeam(door: Pick<Door, 'calls'>, start: string, run: (part: MemberPart) => Promise<ConversationEnd>): Promise<TeamEnd> {
  const handOvers: HandedOver[] = [];
  let part: MemberPart = { member: start, by: null, heard: 0, calls: 0, usedMs: 0 };
  for (;;) {
    const { handOver, usedMs = 0, ...end } = await run(part);
    if (!handOver || end.ending !== 'completed') return { ...end, handOvers };
    const { heard, ...handed } = handOver;
    handOvers.push(handed);
    part = { member: handed.to, by: handed.operation, heard, calls: door.calls, usedMs: part.usedMs + usedMs };
  }
}
