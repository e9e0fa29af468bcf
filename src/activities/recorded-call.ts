import { isDeepStrictEqual } from 'node:util';
import { printable } from '../domain/text/bounded.ts';
import type { Proposal, RecordedCall, World } from '../environments/world.ts';
import { type CallRef, NOT_AS_RECORDED } from './contract.ts';
import type { CheckedCall } from './fault-edge.ts';

/** Longest arguments that a refusal repeats, in UTF-16 units. */
const MAX_SHOWN = 300;

/**
 * Writes a checked call to the ledger. In a world that goes on from another one's state the calls before it have been made: one that is not the same as the one in its
 * place is refused, since there is no answer to it.
 */
export async function proposed(ledger: Pick<World['ledger'], 'propose'>, { proposal, call }: CheckedCall): Promise<CallRef> {
  const recorded = await ledger.propose(proposal);
  if (recorded === null || same(recorded, proposal)) return call;
  const message = `${call.id} was ${shown(recorded)} where this trial goes on from, and is now ${shown(proposal)}; there is no recorded answer to it.`;
  return { id: call.id, tool: call.tool, refusal: { state: 'rejected', problem: { code: NOT_AS_RECORDED, message } }, idempotency: null };
}

function same(recorded: RecordedCall, { tool, args, idempotencyKey, actor }: Proposal): boolean {
  return recorded.tool === tool && recorded.idempotencyKey === idempotencyKey && recorded.actor === (actor ?? null) && isDeepStrictEqual(recorded.args, args);
}

function shown({ tool, args }: Pick<Proposal, 'tool' | 'args'>): string {
  return `${printable(tool, MAX_SHOWN)} ${printable(JSON.stringify(args), MAX_SHOWN)}`;
}
