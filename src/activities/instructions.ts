import type { TrialContext } from './trial-context.ts';

/** What an agent is told before the user speaks: who it acts for, the date, and the policy. Nothing of what the case expects. */
export function instructionsOf({ kase, environment }: Pick<TrialContext, 'kase' | 'environment'>, permission = kase.permission): string {
  const { user, role, attributes } = permission;
  const lines = [
    `You act for ${user}, whose role is "${role}".`,
    ...Object.entries(attributes).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    `The date and time is ${kase.clock} (${kase.timezone}).`,
  ];
  return environment.policy ? `${lines.join('\n')}\n\n${environment.policy}` : lines.join('\n');
}
