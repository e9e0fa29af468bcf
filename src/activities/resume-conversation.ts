import { ApplicationFailure } from '@temporalio/common';
import type { World } from '../environments/world.ts';
import type { GatewayCall, OpenTurn, Store } from '../store/store.ts';
import type { AttemptRef } from './contract.ts';

/** Where an earlier worker left a conversation with an agent's own server. */
export interface LeftConversation {
  /** The turn that the server works on. */
  readonly turn: OpenTurn;
  /** Calls that have their operation, counted by the highest number that one has. */
  readonly calls: number;
  /** Calls with a name, by which their client asks for them again. */
  readonly named: readonly GatewayCall[];
}

/**
 * What an earlier try of a conversation left, for this one to go on with. @throws `ConversationLost` where the agent had not taken the turn as work to be asked for: its
 * answer was lost with the worker, and the attempt with it.
 */
export async function leftConversation(
  store: Pick<Store, 'openTurn' | 'gatewayCalls'>,
  { ledger }: Pick<World, 'ledger'>,
  { trial, attempt }: AttemptRef,
): Promise<LeftConversation> {
  const turn = await store.openTurn(trial, attempt);
  if (turn === null) throw ApplicationFailure.nonRetryable('the conversation was lost with its worker', 'ConversationLost');
  const named = await store.gatewayCalls(trial, attempt);
  // A call that has its name and never came to its ledger row has its number all the same.
  const numbers = [...(await ledger.all()).map(({ id }) => id), ...named.map(({ operation }) => operation)].map((id) => Number(id.replace('op-', '')));
  return { turn, named, calls: Math.max(0, ...numbers.filter(Number.isInteger)) };
}
