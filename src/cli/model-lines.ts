import type { ModelTotals } from '../domain/model.ts';
import type { AgentModelUse, StoppedBatch, TrialSummary } from '../domain/trial.ts';
import { costText, latencyText, tokensText } from '../report/model-text.ts';
import { plainText } from '../report/plain-text.ts';
import type { Paint } from './host.ts';
import { textTable } from './table.ts';

/** What the models of each agent and of simulated users used, where any were called. */
export function modelLines(use: readonly AgentModelUse[], columns: number, paint: Paint): string[] {
  if (!use.some(({ totals }) => totals !== null)) return [];
  const rows = use.map(({ agent, who, totals }) => [
    plainText(who === 'user' ? `${agent}: simulated user` : agent),
    totals === null ? 'not measured' : String(totals.calls),
    tokensText(totals),
    costText(totals),
    totals === null ? '' : latencyText(totals),
  ]);
  return ['', ...textTable(['models', 'calls', 'tokens', 'cost', 'a call'], rows, { columns, headPaint: (text) => paint('bold', text) })];
}

/** Why a batch launches no more. */
export function stoppedLine({ limit, spent, left }: StoppedBatch): string {
  return `stopped: ${spent.amount} of ${limit.amount} ${limit.currency} are spent, and ${left} trials were not started; the same command with a higher --max-cost goes on from here`;
}

/** What a trial's models used, for the head of its timeline. */
export function modelFacts(summary: TrialSummary | null): (readonly [string, string])[] {
  if (summary === null) return [];
  const { agent = null, user = null } = summary.models ?? {};
  return [['models', factText(agent)], ...(user === null ? [] : [['of user', factText(user)] as const])];
}

function factText(totals: ModelTotals | null): string {
  if (totals === null) return 'tokens and cost not measured';
  const tries = totals.failedTries > 0 ? `, ${totals.failedTries} tries without a reply` : '';
  const versions = totals.versions.length > 0 ? `, ${totals.versions.join(', ')}` : '';
  return `${totals.calls} calls, ${tokensText(totals)}, cost ${costText(totals)}, ${latencyText(totals)} a call${tries}${versions}`;
}
