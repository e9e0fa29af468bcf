import type { CallRef, PlannedRule } from '../activities/contract.ts';
import { covers, LASTING_KINDS } from '../domain/fault.ts';

/**
 * The rules of a trial's fault schedule, asked call by call. A pure function of rules, tool, position and what the edge matched: the same trial meets the
 * same faults in whatever order and however many calls are in flight.
 */
export class Schedule {
  private readonly rules: readonly PlannedRule[];

  constructor(rules: readonly PlannedRule[] = []) {
    this.rules = rules;
  }

  /** Rules that hit a call at this position, in the schedule's order; those that the door itself enforces left out. */
  hits(call: CallRef, position: number): readonly PlannedRule[] {
    return this.inForce(call, position).filter((rule) => rule.kind !== 'permission_revoked');
  }

  /** The rule by which the permission for the tool is revoked at this position; null: it is not. */
  revoked(call: CallRef, position: number): PlannedRule | null {
    return this.inForce(call, position).find((rule) => rule.kind === 'permission_revoked') ?? null;
  }

  /** The changed contract of the tool at this position; null: its own. The last rule of several holds. */
  contract(call: CallRef, position: number): PlannedRule | null {
    return this.inForce(call, position).findLast((rule) => rule.kind === 'schema_changed') ?? null;
  }

  private inForce(call: CallRef, position: number): readonly PlannedRule[] {
    return this.rules.filter(
      (rule) =>
        rule.tool === call.tool &&
        (LASTING_KINDS.has(rule.kind) ? since(rule, position) : covers(rule, position)) &&
        (!rule.where || call.matches?.includes(rule.index)),
    );
  }
}

/** A lasting rule holds from the first position that it covers. */
function since(rule: PlannedRule, position: number): boolean {
  const { calls } = rule;
  if (calls === undefined) return true;
  return 'from' in calls ? position >= calls.from : calls.some((first) => position >= first);
}
