import type { BatchSummary } from '../domain/trial.ts';
import { mdCellCode, mdTable, mdText } from './markdown.ts';

/** Each gate with what it was compared with, for each agent; empty where a batch was judged by its counts alone. */
export function gatesMarkdown({ gates = [] }: BatchSummary): string {
  if (gates.length === 0) return '';
  const words = { met: 'met', not_met: '**not met**', not_judged: '**not judged**' } as const;
  return mdTable(
    ['gate', 'agent', 'result', 'figure'],
    gates.map(({ gate, agent, result, reason }) => [mdCellCode(gate), mdCellCode(agent), words[result], mdText(reason)]),
  );
}
