import { type ApprovalNeed, type ApprovalRule, DEFAULT_EXPIRY_MS } from '../domain/approval.ts';
import type { PermissionContext } from '../domain/case.ts';
import { argumentsMatch } from '../domain/grading/match.ts';
import { columnsText } from '../domain/grading/words.ts';
import type { Json } from '../domain/json.ts';
import { printable } from '../domain/text/bounded.ts';
import type { Environment, Tool } from '../environments/define.ts';

const MAX_RULE_LENGTH = 300;

/** Why a call needs an approval; null: it needs none. Of several rules the shortest time holds. */
export function approvalNeed(environment: Environment, permission: PermissionContext, tool: Tool, args: Json): ApprovalNeed | null {
  if (tool.effect === 'read' || tool.builtin) return null;
  const fitting = rulesOf(environment, permission, tool).filter((rule) => argumentsMatch(rule.where, args));
  const [first] = fitting;
  if (first === undefined) return null;
  return { rule: ruleText(first), expiresMs: Math.min(...fitting.map(({ expiresMs = DEFAULT_EXPIRY_MS }) => expiresMs)) };
}

/** Whether any call of a case may need an approval. */
export function asksForApproval(environment: Environment, permission: PermissionContext): boolean {
  return environment.tools.some((tool) => rulesOf(environment, permission, tool).length > 0);
}

function rulesOf({ permissions }: Environment, permission: PermissionContext, tool: Tool): readonly ApprovalRule[] {
  const own: readonly ApprovalRule[] = tool.approval === undefined ? [] : [{ ...(tool.approval === 'required' ? {} : tool.approval), tool: tool.name }];
  return [...own, ...(permissions?.approval ?? []), ...(permission.approval ?? [])].filter(
    (rule) => tool.effect !== 'read' && (rule.tool === undefined || rule.tool === tool.name) && (rule.effect === undefined || rule.effect === tool.effect),
  );
}

/** A rule in words. */
function ruleText({ tool, effect, where }: ApprovalRule): string {
  const what = tool ?? (effect === 'external' ? 'calls that go out' : effect === 'write' ? 'calls that write rows' : 'calls that have an effect');
  return printable(`${what}${where === undefined ? '' : ` with ${columnsText(where)}`}`, MAX_RULE_LENGTH);
}
