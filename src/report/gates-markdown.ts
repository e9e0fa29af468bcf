import type { ReportData } from './data.ts';
import { gateNotes, gateRows } from './gates/gate-rows.ts';
import { mdCellCode, mdTable, mdText } from './markdown.ts';

/** Each gate with what it was compared with, for each agent, and what else keeps the batch from it. */
export function gatesMarkdown(data: Pick<ReportData, 'batch' | 'summary' | 'facts' | 'quarantined'>): string {
  const words = { met: 'met', not_met: '**not met**', not_judged: '**not judged**' } as const;
  const table = mdTable(
    ['gate', 'agent', 'result', 'judged by', 'figure'],
    gateRows(data).map(({ gate, agent, result, by, reason }) => [mdCellCode(gate), mdCellCode(agent), words[result], by, mdText(reason)]),
  );
  return [table, ...gateNotes(data).map((note) => `- ${note}`)].join('\n').replace('\n- ', '\n\n- ');
}
