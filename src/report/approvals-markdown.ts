import type { ApprovalOutcomeName } from '../domain/approval.ts';
import { approvalEndText } from './approval-words.ts';
import type { ReportData } from './data.ts';
import { mdCellCode, mdCode, mdTable, mdText } from './markdown.ts';

const OUTCOMES: readonly ApprovalOutcomeName[] = ['approved', 'refused', 'expired', 'void', 'cancelled'];
/** More decisions than a person reads in a list. */
const LISTED = 50;

/** Which calls needed an approval, what came of the requests, and what people decided. Empty where nothing did. */
export function approvalsMarkdown({ approvals: asked }: Pick<ReportData, 'approvals'>): string {
  if (asked.length === 0) return '';
  const rows = [...Map.groupBy(asked, ({ tool }) => tool)].map(([tool, group]) => [
    mdCellCode(tool),
    String(group.length),
    ...OUTCOMES.map((outcome) => String(group.filter(({ end }) => end?.outcome === outcome).length)),
  ]);
  const byPeople = asked.filter(({ end }) => end !== null && end.via !== 'case' && end.by !== null);
  const lines = byPeople
    .slice(0, LISTED)
    .map(
      ({ case: kase, agent, tool, operation, seq, actor, end }) =>
        `- ${mdCode(kase)} by ${mdCode(agent)}, ${seq === undefined ? mdCode(operation) : `call ${seq}`} ${mdCode(tool)}${actor === undefined ? '' : ` of ${mdCode(actor)}`}: ${mdText(approvalEndText(end))}`,
    );
  return [
    mdTable(['tool', 'asked', ...OUTCOMES], rows),
    ...(lines.length > 0 ? ['', ...lines] : []),
    ...(byPeople.length > LISTED ? [`- and ${byPeople.length - LISTED} more, in \`report.json\``] : []),
  ].join('\n');
}
