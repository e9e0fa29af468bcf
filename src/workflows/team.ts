import type { ConversationEnd, HandedOver, MemberPart } from '../activities/contract.ts';
import type { Door } from './door.ts';
import { ModelTalk, ModelUse } from './model-talk.ts';

/** How a team's conversation ended, and the hand-overs on the way. */
export interface TeamEnd extends ConversationEnd {
  readonly handOvers: readonly HandedOver[];
}

/** What stays of a team while its members come and go. */
export class TeamTalk {
  /** Of the models of all members together. */
  readonly use = new ModelUse();
  /** Number of the user's message that is being dealt with. */
  turn = 1;
  private readonly talks = new Map<string, ModelTalk>();

  /** Where a member that is a model stands: it goes on with what it was told before. */
  of(member: string): ModelTalk {
    const known = this.talks.get(member) ?? new ModelTalk();
    this.talks.set(member, known);
    return known;
  }
}

/**
 * Plays a team: one member acts at a time, until it hands over or the conversation ends. Each hand-over is a call within the trial's budget, so that two who
 * give the conversation to each other come to an end.
 */
export async function playTeam(
  door: Pick<Door, 'calls'>,
  start: string,
  run: (part: MemberPart, team: TeamTalk) => Promise<ConversationEnd>,
): Promise<TeamEnd> {
  const handOvers: HandedOver[] = [];
  const team = new TeamTalk();
  let part: MemberPart = { member: start, by: null, heard: 0, calls: 0, usedMs: 0 };
  for (;;) {
    const { handOver, usedMs = 0, spent, ...end } = await run(part, team);
    if (spent) team.use.spent = spent;
    if (!handOver || end.ending !== 'completed') return { ...end, usedMs: part.usedMs + usedMs, handOvers };
    const { heard, ...handed } = handOver;
    handOvers.push(handed);
    team.turn = handed.turn;
    part = { member: handed.to, by: handed.operation, heard, calls: door.calls, usedMs: part.usedMs + usedMs };
  }
}
