import type { OperationApproval } from '../domain/approval.ts';
import { oneLineJson, plainText, shorten } from '../report/plain-text.ts';
import type { AskedApproval } from '../store/store.ts';
import type { Paint } from './host.ts';

/** Rows of one table that a list shows; `--json` has all. */
const MOST_ROWS = 20;

/** A request with everything that the approver is shown, for people. Foreign text in it is safe to print. */
export function askedLines(asked: AskedApproval, columns: number, paint: Paint): string[] {
  const { id, operation, approval } = asked;
  const { tool, args, rule, expiresAt } = approval;
  return [
    paint('bold', plainText(id)),
    ...[
      plainText(`${asked.case} by ${asked.agent}: ${operation} ${tool}; the rule is "${rule}"; expires ${expiresAt}`),
      `arguments ${oneLineJson(args, columns - 12)}`,
      ...rowLines(approval, columns),
    ].map((line) => `  ${line}`),
  ];
}

function rowLines({ rows }: OperationApproval, columns: number): string[] {
  return rows.flatMap((part) => [
    plainText(`rows of ${part.table} with ${oneLineJson(part.where, 80)}: ${part.rows.length === 0 ? 'none' : part.rows.length}`),
    ...part.rows.slice(0, MOST_ROWS).map((row) => `  ${shorten(oneLineJson(row), columns - 6)}`),
    ...(part.rows.length > MOST_ROWS ? [`  and ${part.rows.length - MOST_ROWS} more; --json shows all`] : []),
  ]);
}
