import { totalsOf } from '../domain/model.ts';
import type { AgentModelUse } from '../domain/trial.ts';
import type { Store, TrialRow } from '../store/store.ts';

/** What models used for each agent of a batch, all attempts included; null where nothing was measured. In the manifest's order. */
export async function modelUseOf(store: Pick<Store, 'modelCallsOf'>, batch: string, rows: readonly TrialRow[]): Promise<readonly AgentModelUse[]> {
  const calls = await store.modelCallsOf(batch);
  if (calls.length === 0) return [];
  return [...new Set(rows.map(({ agentName }) => agentName))].flatMap((agent): AgentModelUse[] => {
    const by = (who: 'agent' | 'user') => totalsOf(calls.filter((one) => one.agentName === agent && one.call.who === who).map(({ call }) => call));
    const user = by('user');
    return [{ agent, who: 'agent', totals: by('agent') }, ...(user === null ? [] : [{ agent, who: 'user' as const, totals: user }])];
  });
}
