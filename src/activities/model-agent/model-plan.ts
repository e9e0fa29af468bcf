import type { AgentSpec, TeamMember } from '../../domain/agent.ts';
import type { Case } from '../../domain/case.ts';
import { type ModelBudget, narrowest } from '../../domain/model-budget.ts';
import type { AttemptPlan, MemberPlan } from '../contract.ts';
import type { ModelPlan } from '../model-contract.ts';

export type ModelAgent = Extract<AgentSpec, { kind: 'model' }>;

/** What the workflow has to know of an agent that is a model. */
export function modelPlanOf(kase: Case, agent: ModelAgent): ModelPlan {
  return { budget: budgetOf(kase, agent), turns: kase.turns.length };
}

/** The same of a team: which of its members the workflow plays, and what all models of the trial share. */
export function teamPlanOf(kase: Case, { start, members }: Extract<AgentSpec, { kind: 'team' }>): Pick<AttemptPlan, 'start' | 'members' | 'model'> {
  const played = members.flatMap((member) => {
    const plan = memberPlanOf(kase, member);
    return plan ? [[member.name, plan] as const] : [];
  });
  const asks = played.some(([, { kind }]) => kind === 'model');
  return {
    start,
    ...(played.length > 0 && { members: Object.fromEntries(played) }),
    ...(asks && { model: { budget: narrowest([kase.budget]), turns: kase.turns.length } }),
  };
}

function memberPlanOf(kase: Case, { agent }: TeamMember): MemberPlan | null {
  if (agent.kind === 'model') return { kind: 'model', own: budgetOf(kase, agent) };
  return agent.kind === 'script' ? { kind: 'script' } : null;
}

/** Limits of the case and of the agent: the narrowest hold. */
export function budgetOf({ budget: { steps, tokens, money } }: Case, { budget }: ModelAgent): ModelBudget {
  return narrowest([{ steps, tokens, money }, budget]);
}
