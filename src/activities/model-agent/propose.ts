import type { ChatCall } from '../../domain/chat.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { Proposal, World } from '../../environments/world.ts';
import { type Actor, callRefOf } from '../check-call.ts';
import type { CallRef } from '../contract.ts';
import { checkCallUnder } from '../fault-edge.ts';
import type { ModelStep } from '../model-contract.ts';
import { proposed } from '../recorded-call.ts';
import type { TrialContext } from '../trial-context.ts';

/** Of arguments that are no JSON, so much is kept, in UTF-16 units. */
const MAX_MALFORMED = 10_000;

/**
 * Checks the calls of a model's message at the edge and writes them to the ledger, in its order. Arguments that are no JSON make a call that is rejected: the model
 * is told, and it counts.
 */
export async function proposeCalls(
  { rules, environment, kase }: Pick<TrialContext, 'rules' | 'environment' | 'kase'>,
  { ledger }: Pick<World, 'ledger'>,
  calls: readonly ChatCall[],
  step: Pick<ModelStep, 'calls' | 'callsLeft'>,
  actor: Actor | null = null,
): Promise<readonly CallRef[]> {
  const refs: CallRef[] = [];
  for (const { tool, args } of calls.slice(0, step.callsLeft + 1)) {
    const id = `op-${step.calls + refs.length + 1}`;
    const parsed = parse(args);
    const malformed = parsed === undefined ? malformedCall(id, tool, args, actor) : null;
    const checked = malformed
      ? { proposal: malformed, call: callRefOf(malformed) }
      : checkCallUnder(rules, environment.environment, kase.permission, { id, tool, args: parsed, idempotencyKey: null, ...(actor && { actor }) });
    refs.push(await proposed(ledger, checked));
  }
  return refs;
}

function malformedCall(id: string, tool: string, args: string, actor: Actor | null): Proposal {
  const problem = { code: 'invalid_args', message: 'The arguments are not JSON: send one JSON object.' };
  const refusal = { state: 'rejected' as const, problem };
  return { id, tool: printable(tool, 200), ...(actor && { actor: actor.name }), args: printable(args, MAX_MALFORMED), idempotencyKey: null, refusal };
}

/** A model may leave arguments out where there are none. */
function parse(args: string): unknown {
  if (args.trim() === '') return {};
  try {
    return JSON.parse(args);
  } catch {
    return undefined;
  }
}
