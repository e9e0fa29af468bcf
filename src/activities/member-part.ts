import { ApplicationFailure } from '@temporalio/common';
import { type AgentSpec, memberPermission, type TeamMember } from '../domain/agent.ts';
import type { PermissionContext } from '../domain/case.ts';
import type { OperationProblem } from '../domain/operation.ts';
import { isObject } from '../domain/text/bounded.ts';
import { handOverSchema } from '../environments/team-tool.ts';
import type { ToolSchema, World } from '../environments/world.ts';
import type { CarryCall } from './carry-call.ts';
import { type Actor, permittedTools } from './check-call.ts';
import type { ConversationEnd, MemberPart } from './contract.ts';
import type { TrialContext } from './trial-context.ts';
import type { UserMessage, UserSide } from './user-side.ts';

type Team = Extract<AgentSpec, { readonly kind: 'team' }>;

/** One member's part of a conversation: who acts, what it may, what it hears, and how its part ends. */
export class Part {
  readonly member: TeamMember;
  readonly permission: PermissionContext;
  private readonly team: Team;
  private readonly request: MemberPart;
  /** A hand-over is on its way. */
  private handing = false;
  private handed: { readonly operation: string; readonly to: string } | null = null;
  /** What it was handed with; null: nothing, or it has been heard. */
  private opening: { readonly from: string; readonly text: string } | null;
  private heard: number;
  private turn = 1;

  private constructor(team: Team, member: TeamMember, permission: PermissionContext, request: MemberPart, opening: Part['opening']) {
    this.team = team;
    this.member = member;
    this.permission = permission;
    this.request = request;
    this.opening = opening;
    this.heard = request.heard;
  }

  /** @throws {ApplicationFailure} for a member or a hand-over that is not there: the harness's trouble. */
  static async begin({ agent, kase }: Pick<TrialContext, 'agent' | 'kase'>, { ledger }: Pick<World, 'ledger'>, request: MemberPart): Promise<Part> {
    const member = agent.kind === 'team' ? agent.members.find(({ name }) => name === request.member) : undefined;
    const row = request.by === null ? null : await ledger.read(request.by);
    if (agent.kind !== 'team' || !member || (request.by !== null && !row))
      throw ApplicationFailure.nonRetryable(`agent ${agent.name} has no part of ${request.member} that begins here`, 'LedgerMissing');
    const text = isObject(row?.args) ? row.args['text'] : undefined;
    const opening = row === null ? null : { from: row.actor ?? '', text: typeof text === 'string' ? text : '' };
    return new Part(agent, member, memberPermission(member, kase.permission), request, opening);
  }

  get actor(): Actor {
    return {
      name: this.member.name,
      permission: this.permission,
      standing: () => (this.handing ? HANDED_OVER : null),
      handsOver: (to) => {
        if (!this.member.handsTo.includes(to)) return { code: 'not_permitted', message: `You may not hand over to ${to}.` };
        this.handing = true;
        return null;
      },
    };
  }

  /** The text with which it was handed the conversation, and by whom; null: the user speaks to it first. */
  get handedWith(): { readonly from: string; readonly text: string } | null {
    return this.opening;
  }

  /** Tools that the case and its own context permit; the hand-over to those whom it may hand over to. */
  tools({ environment, kase }: Pick<TrialContext, 'environment' | 'kase'>): readonly ToolSchema[] {
    const own = new Set(permittedTools(environment, this.permission).map(({ name }) => name));
    const colleagues = this.team.members.filter(({ name }) => this.member.handsTo.includes(name));
    return permittedTools(environment, kase.permission).flatMap((tool) => {
      if (tool.name === this.team.tool) return colleagues.length === 0 ? [] : [handOverSchema(tool.name, colleagues)];
      return own.has(tool.name) ? [tool] : [];
    });
  }

  /** What is left of the trial's budget. */
  left({ calls, wallMs }: { readonly calls: number; readonly wallMs: number }): { readonly calls: number; readonly wallMs: number } {
    return { calls: Math.max(0, calls - this.request.calls), wallMs: Math.max(0, wallMs - this.request.usedMs) };
  }

  /** Carries its calls, and notices the one by which it hands over. */
  carries(carry: CarryCall): CarryCall {
    return async (tool, args, idempotencyKey, name) => {
      const result = await carry(tool, args, idempotencyKey, name);
      if (tool !== this.team.tool) return result;
      if (result.state === 'committed' && isObject(result.result)) this.handed ??= { operation: result.operation, to: String(result.result['handed_over_to']) };
      // One that came to nothing leaves it where it was; a second one beside the first was refused.
      else if (result.problem?.code !== HANDED_OVER.code && this.handed === null) this.handing = false;
      return result;
    };
  }

  /** What it hears and says: first what it was handed with, and nothing any more once it has handed over. */
  hears(user: UserSide): UserSide {
    return {
      get asked() {
        return user.asked;
      },
      again: () => user.again(),
      next: async (): Promise<UserMessage | null> => {
        if (this.handed) return null;
        const { opening } = this;
        if (opening) {
          this.opening = null;
          this.turn = (await user.messages()).findLast(({ from }) => from === 'user')?.turn ?? 1;
          return { turn: this.turn, ...opening };
        }
        const message = await user.next();
        this.heard = user.asked;
        if (message) this.turn = message.turn;
        return message;
      },
      tell: async (text, data) => {
        if (!this.handed) await user.tell(text, data);
      },
      messages: () => user.messages(),
    };
  }

  /** How its part ended, for the workflow to go on. What a member does wrong after it has handed over is wrong nevertheless. */
  ends(end: ConversationEnd): ConversationEnd {
    if (!this.handed || end.ending !== 'completed') return end;
    return { ...end, handOver: { ...this.handed, turn: this.turn, heard: this.heard } };
  }
}

const HANDED_OVER: OperationProblem = { code: 'handed_over', message: 'You have handed the conversation over; a colleague goes on.' };
