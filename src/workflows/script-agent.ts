import { proxyLocalActivities } from '@temporalio/workflow';
import type { ConversationEnd, MemberPart, OperateResult, ScriptCursor, ScriptMove, TrialActivities, WorldAttempt } from '../activities/contract.ts';
import type { Dialogue } from './dialogue.ts';
import type { Door } from './door.ts';
import type { OperationOutcome } from './operations/operation.ts';
import { PATIENT } from './patience.ts';

const short = proxyLocalActivities<TrialActivities>(PATIENT);

export interface ScriptOptions {
  /** Nothing can come between a call and the step after it: no user who answers, no decision. That step is then played in the activity that carries out the call. */
  readonly ahead?: boolean;
  /** The first move, where it has been made. */
  readonly first?: ScriptMove | undefined;
  /** Of a team: the member's part, and the number of the user's message that is being dealt with. */
  readonly member?: { readonly part: MemberPart; readonly turn: number };
}

/** An agent whose steps are written down. */
export class ScriptAgent {
  private readonly at: WorldAttempt;
  private readonly options: ScriptOptions;
  private cursor: ScriptCursor;
  /** A move that has been made, and not yet followed. */
  private made: ScriptMove | null;

  constructor(at: WorldAttempt, options: ScriptOptions) {
    const { member, first } = options;
    this.at = at;
    this.options = options;
    this.made = first ?? null;
    this.cursor = { step: 0, turn: member?.turn ?? 1, calls: member?.part.calls ?? 0, replays: {} };
  }

  /** Where the script stands after the call that is being carried out; null: its next step is not to be played with it. */
  get playOn(): ScriptCursor | null {
    return this.options.ahead ? this.cursor : null;
  }

  /** Takes the move that was made with a call. */
  took(outcome: OperationOutcome<OperateResult | null>): void {
    if (outcome.state === 'committed') this.made = outcome.value?.next ?? null;
  }

  async play(door: Door, dialogue: Dialogue | null): Promise<ConversationEnd> {
    const { member } = this.options;
    let heard = Math.max(1, member?.part.heard ?? 1);
    for (;;) {
      const move = this.made ?? (await short.advanceScript({ ...this.at, cursor: this.cursor, ...(member && { part: member.part }) }));
      this.made = null;
      if (move.kind === 'end') return move.problem ? { ending: 'agent_error', problem: move.problem } : { ending: 'completed', problem: null };
      this.cursor = move.cursor;
      if (move.kind === 'say') {
        heard++;
        if (!dialogue) continue;
        const turn = await dialogue.next();
        if (turn.kind === 'over') return turn.end;
        // What a script says to a user who has left is said nevertheless, as with one who has no more to say.
        this.cursor = { ...this.cursor, turn: dialogue.turns };
        continue;
      }
      const { problem, operation, state } = await door.call(move.call);
      // Answered by an earlier call with the same key: later steps read that one's result.
      if (operation !== move.call.id) this.cursor = { ...this.cursor, replays: { ...this.cursor.replays, [move.call.id]: operation } };
      if (door.missed) return door.missed;
      if (door.exhausted) return { ending: 'budget_exhausted', problem };
      if (dialogue?.over) return dialogue.over;
      if (dialogue) this.cursor = { ...this.cursor, turn: dialogue.turns };
      if (door.broken) throw door.broken;
      const to = state === 'committed' ? move.call.handsTo : undefined;
      if (to !== undefined) return { ending: 'completed', problem: null, handOver: { operation, to, turn: this.cursor.turn, heard } };
    }
  }
}
