import type { PermissionContext } from '../domain/case.ts';
import { type DrawnRule, OWN_CONTRACT } from '../domain/fault.ts';
import { argumentsMatch } from '../domain/grading/match.ts';
import type { JsonObject } from '../domain/json.ts';
import { isObject } from '../domain/text/bounded.ts';
import type { Environment } from '../environments/define.ts';
import type { Proposal } from '../environments/world.ts';
import { type Call, callRefOf, checkCall } from './check-call.ts';
import type { CallRef } from './contract.ts';

/** A call that was checked at the edge: what goes to the ledger, and what the workflow is told. */
export interface CheckedCall {
  readonly proposal: Proposal;
  readonly call: CallRef;
}

/**
 * Checks a call with the fault schedule in view: which rules its arguments match, and under which contracts of the tool they are valid, since the workflow alone
 * knows which contract holds at the call's position. The ledger gets the arguments under the tool's own names.
 */
export function checkCallUnder(rules: readonly DrawnRule[], environment: Environment, permission: PermissionContext, call: Call): CheckedCall {
  const mine = rules.filter((rule) => rule.on !== 'start' && 'tool' in rule.on && rule.on.tool === call.tool);
  const changes = mine.filter((rule) => rule.fault.kind === 'schema_changed');
  if (mine.length === 0) return plain(environment, checkCall(environment, permission, call));
  const own = checkCall(environment, permission, call);
  const versions = [
    { contract: OWN_CONTRACT, proposal: own },
    ...changes.map((rule) => ({ contract: rule.index, proposal: checkCall(environment, permission, { ...call, args: inOwnNames(rule, call.args) }) })),
  ];
  const valid = versions.filter(({ proposal }) => proposal.refusal?.problem.code !== 'invalid_args');
  const proposal = valid[0]?.proposal ?? own;
  const { args } = proposal;
  const matches = mine.filter(({ where }) => where && argumentsMatch(where, args)).map((rule) => rule.index);
  return {
    proposal,
    call: {
      ...callRefOf(proposal),
      ...aboutOf(environment, proposal),
      ...(matches.length > 0 && { matches }),
      ...(changes.length > 0 && valid.length > 0 && { contracts: valid.map(({ contract }) => contract) }),
    },
  };
}

function plain(environment: Environment, proposal: Proposal): CheckedCall {
  return { proposal, call: { ...callRefOf(proposal), ...aboutOf(environment, proposal) } };
}

/** Of a look-up, which operation it asks for: the workflow alone knows whether that one has ended. Of a hand-over, to whom. */
function aboutOf({ tools }: Environment, { tool, args, refusal }: Proposal): Pick<CallRef, 'about' | 'handsTo'> {
  const builtin = refusal === null && isObject(args) ? tools.find(({ name }) => name === tool)?.builtin : undefined;
  const { operation, to } = isObject(args) ? args : {};
  if (builtin === 'lookup' && typeof operation === 'string') return { about: operation };
  return builtin === 'hand_over' && typeof to === 'string' ? { handsTo: to } : {};
}

/**
 * Arguments under a changed contract as the tool itself names them. One that stands under a name that is gone makes the call invalid, and so it is left where the
 * tool does not know it.
 */
function inOwnNames({ fault }: DrawnRule, args: unknown): unknown {
  if (fault.kind !== 'schema_changed' || typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  const own = new Map(Object.entries(fault.rename).map(([name, now]) => [now, name]));
  const gone = new Set([...Object.keys(fault.rename), ...fault.remove]);
  return Object.fromEntries(Object.entries(args as JsonObject).map(([name, value]) => [own.get(name) ?? (gone.has(name) ? `${name} (gone)` : name), value]));
}
