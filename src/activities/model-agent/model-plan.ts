import type { AgentSpec } from '../../domain/agent.ts';
import type { Case } from '../../domain/case.ts';
import { type ModelBudget, narrowest } from '../../domain/model-budget.ts';
import type { ModelPlan } from '../model-contract.ts';

export type ModelAgent = Extract<AgentSpec, { kind: 'model' }>;

/** What the workflow has to know of an agent that is a model. */
export function modelPlanOf(kase: Case, agent: ModelAgent): ModelPlan {
  return { budget: budgetOf(kase, agent), turns: kase.turns.length };
}

/** Limits of the case and of the agent: the narrowest hold. */
export function budgetOf({ budget: { steps, tokens, money } }: Case, { budget }: ModelAgent): ModelBudget {
  return narrowest([{ steps, tokens, money }, budget]);
}
