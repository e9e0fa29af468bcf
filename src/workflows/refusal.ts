import type { CallRef, PlannedRule, ToolPlan } from '../activities/contract.ts';
import { OWN_CONTRACT } from '../domain/fault.ts';
import type { OperationProblem } from '../domain/operation.ts';
import type { RuntimeWords } from '../domain/runtime.ts';
import type { Schedule } from './schedule.ts';
import { inProductionWords } from './wording.ts';

/** Why the door lets a call not through, and the rule of the schedule that says so. */
export interface Refusal extends NonNullable<CallRef['refusal']> {
  readonly rule?: PlannedRule;
}

/** What the door knows beside the call. */
export interface Standpoint {
  readonly schedule: Schedule;
  /** The tool whose call ended the agent's work; null: none did. */
  readonly endedBy: string | null;
  readonly words: RuntimeWords | undefined;
  /** Why a question to the user is beyond the budget; null: it is not. */
  readonly refuseQuestion: (() => OperationProblem | null) | undefined;
}

/** Why a call is not let through; null: it is. */
export function refusalOf(
  call: CallRef,
  tool: ToolPlan | undefined,
  position: number,
  { schedule, endedBy, words, refuseQuestion }: Standpoint,
): Refusal | null {
  const denied = (problem: OperationProblem): Refusal => ({
    state: 'denied',
    problem: inProductionWords(problem, { tool: call.tool, state: 'denied' }, words),
  });
  if (call.refusal?.state === 'denied') return denied(call.refusal.problem);
  const contract = call.refusal === null && !tool ? null : schedule.contract(call, position);
  if (call.refusal) {
    // The edge knows the tool's own contract only.
    if (contract?.contract && call.refusal.problem.code === 'invalid_args') return rejected('invalid_args', contract.contract, contract);
    return call.refusal;
  }
  if (!tool) return unknownTool(call.tool);
  if (endedBy !== null) return rejected('conversation_ended', `A call of ${endedBy} has ended the conversation; no call is taken any more.`);
  if (call.contracts && !call.contracts.includes(contract?.index ?? OWN_CONTRACT)) {
    return rejected('invalid_args', contract?.contract ?? `The arguments are not those of ${call.tool}.`, contract ?? undefined);
  }
  const revoked = schedule.revoked(call, position);
  if (revoked === null) {
    const problem = tool.asks ? (refuseQuestion?.() ?? null) : null;
    return problem && { state: 'rejected', problem };
  }
  return { ...denied({ code: 'permission_revoked', message: `The permission to call ${call.tool} has been revoked.` }), rule: revoked };
}

export function unknownTool(name: string): Refusal {
  return rejected('unknown_tool', `There is no tool "${name}".`);
}

function rejected(code: string, message: string, rule?: PlannedRule): Refusal {
  return { state: 'rejected', problem: { code, message }, ...(rule && { rule }) };
}
