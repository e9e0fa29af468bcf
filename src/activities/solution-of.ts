import type { Solution } from '../domain/case.ts';
import type { TrialContext } from './trial-context.ts';

/** What a scripted agent plays in this trial. @throws {Error} for a module agent, which plays nothing. */
export function solutionOf({ agent, kase }: Pick<TrialContext, 'agent' | 'kase'>): Solution {
  switch (agent.kind) {
    case 'reference':
      return kase.reference;
    case 'script':
      return agent.solution;
    case 'do-nothing':
      return { steps: [], answer: agent.answer };
    case 'module':
      throw new Error(`agent ${agent.name} is a module and has no script`);
  }
}
