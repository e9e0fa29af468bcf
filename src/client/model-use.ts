import { totalsOf } from '../domain/model.ts';
import type { AgentModelUse } from '../domain/trial.ts';
import type { Store, TrialRow } from '../store/store.ts';

/** Calls of models of a batch's trials, all attempts included. */
export type BatchCalls = Awaited<ReturnType<Store['modelCallsOf']>>;

/** What models used for each agent of a batch; null where nothing was measured. In the manifest's order. */
export function modelUseOf(calls: BatchCalls, rows: readonly TrialRow[]): readonly AgentModelUse[] {
  if (calls.length === 0) return [];
  return [...new Set(rows.map(({ agentName }) => agentName))].flatMap((agent): AgentModelUse[] => {
    const by = (who: 'agent' | 'user') => totalsOf(calls.filter((one) => one.agentName === agent && one.call.who === who).map(({ call }) => call));
    const user = by('user');
    return [{ agent, who: 'agent', totals: by('agent') }, ...(user === null ? [] : [{ agent, who: 'user' as const, totals: user }])];
  });
}
