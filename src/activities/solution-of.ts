import type { Solution } from '../domain/case.ts';
import type { TrialContext } from './trial-context.ts';

/** What a scripted agent, or a member of a team, plays in this trial. @throws {Error} for an agent with code of its own, which plays nothing. */
export function solutionOf({ agent, kase }: Pick<TrialContext, 'agent' | 'kase'>): Solution {
  switch (agent.kind) {
    case 'reference':
      return kase.reference;
    case 'script':
      return agent.solution;
    case 'do-nothing':
      return { steps: [], answer: agent.answer };
    case 'module':
    case 'command':
    case 'http':
    case 'model':
    case 'team':
      throw new Error(`agent ${agent.name} is a ${agent.kind} and has no script`);
  }
}
