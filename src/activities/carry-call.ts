import type { WorkflowHandle } from '@temporalio/client';
import type { CallResult } from '../environments/agent.ts';
import type { World } from '../environments/world.ts';
import { callId, operateUpdate } from '../workflows/messages.ts';
import type { Actor } from './check-call.ts';
import type { CallOutcome, WorldAttempt } from './contract.ts';
import { checkCallUnder } from './fault-edge.ts';
import { proposed } from './recorded-call.ts';
import type { TrialContext } from './trial-context.ts';
import { throughOutages } from './through-outages.ts';
import { ConversationOver } from './user-side.ts';

/**
 * Carries one call of an agent to its outcome. A call of a name that was carried before, by this worker or an earlier one, is the same operation.
 * @throws {ConversationOver} where it ended the conversation; what the ledger, the store or the workflow's server threw: the harness's trouble.
 */
export type CarryCall = (tool: string, args: unknown, idempotencyKey: string | null, name?: CallName | null) => Promise<CallResult>;

/** A call's name as its client gave it, and what tells it from another call of that name. */
export interface CallName {
  readonly id: string;
  readonly digest: string;
}

/** Where names are kept, so that they outlive this worker. */
export interface CallNames {
  /** How many calls earlier workers, or members of a team, have made. */
  readonly calls: number;
  /** Operation by name. */
  readonly operations: ReadonlyMap<string, string>;
  readonly note: (name: CallName, operation: string) => Promise<void>;
}

/**
 * The way of every call of one attempt's agent, whatever its kind: checked at this edge, written to the ledger, carried through the trial's door as a workflow
 * Update. Calls are numbered as they come, and the door accepts them in that order: a call is sent once the one before it has been accepted.
 */
export function callCarrier(
  { rules, environment, kase }: Pick<TrialContext, 'rules' | 'environment' | 'kase'>,
  { ledger }: Pick<World, 'ledger'>,
  trial: Pick<WorkflowHandle, 'startUpdate'>,
  { attempt }: Pick<WorldAttempt, 'attempt'>,
  names: CallNames = { calls: 0, operations: new Map(), note: async () => {} },
  actor: Actor | null = null,
): CarryCall {
  let { calls } = names;
  let underWay = 0;
  const operations = new Map(names.operations);
  let before: Promise<unknown> = Promise.resolve();

  const accepted = async (id: string, tool: string, args: unknown, idempotencyKey: string | null) => {
    const checked = checkCallUnder(rules, environment.environment, kase.permission, { id, tool, args, idempotencyKey, ...(actor && { actor }) });
    const call = await proposed(ledger, { ...checked, proposal: { ...checked.proposal, ...(underWay > 1 && { beside: true as const }) } });
    // By its id a repeated request is the same call.
    return throughOutages(() => trial.startUpdate(operateUpdate, { updateId: callId(attempt, id), args: [call, attempt], waitForStage: 'ACCEPTED' }), {
      of: 'Temporal',
    });
  };

  const ended = async (update: ReturnType<typeof accepted>): Promise<CallOutcome> => {
    try {
      const carried = await update;
      return await throughOutages(() => carried.result(), { of: 'Temporal' });
    } finally {
      underWay--;
    }
  };

  return async (tool, args, idempotencyKey, name = null) => {
    underWay++;
    const known = name && operations.get(name.id);
    const id = known ?? `op-${++calls}`;
    if (name && !known) operations.set(name.id, id);
    const update = before.then(async () => {
      // Before the call can have any effect, so that it is found again.
      if (name && !known) await names.note(name, id);
      return accepted(id, tool, args, idempotencyKey);
    });
    before = update.catch(() => {});
    const outcome = await ended(update);
    if (outcome.over) throw new ConversationOver(outcome.over);
    const row = outcome.state === 'committed' ? await ledger.read(outcome.operation) : null;
    return { operation: outcome.operation, state: outcome.state, result: row?.result ?? null, problem: outcome.problem };
  };
}
