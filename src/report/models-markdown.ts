import type { AgentModelUse } from '../domain/trial.ts';
import type { ReportData } from './data.ts';
import { mdCellCode, mdTable } from './markdown.ts';
import { costText, latencyText, tokensText } from './model-text.ts';

/** Agents that are listed at all. */
const LISTED = 100;

/** Tokens and cost by agent, all attempts included. */
export function modelsText({ summary, facts }: Pick<ReportData, 'summary' | 'facts'>): string {
  const agents = [...new Set(facts.map(({ agent }) => agent))];
  if (agents.length === 0) return '';
  const use: readonly AgentModelUse[] = summary.models ?? agents.map((agent) => ({ agent, who: 'agent', totals: null }));
  const rows = use
    .slice(0, LISTED)
    .map(({ agent, who, totals }) => [
      `${mdCellCode(agent)}${who === 'user' ? ', its simulated user' : ''}`,
      totals === null ? 'not measured' : String(totals.calls),
      tokensText(totals),
      costText(totals),
      totals === null ? '' : latencyText(totals),
      totals === null ? '' : String(totals.failedTries),
      totals === null ? '' : totals.versions.map(mdCellCode).join(', '),
    ]);
  const table = mdTable(['agent', 'calls', 'tokens', 'cost', 'a call', 'failed tries', 'versions'], rows);
  if (!summary.stopped) return table;
  const { limit, spent, left } = summary.stopped;
  return `Stopped: ${spent.amount} of ${limit.amount} ${limit.currency} are spent; ${left} trials were not started.\n\n${table}`;
}
