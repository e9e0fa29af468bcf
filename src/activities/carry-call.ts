import type { WorkflowHandle } from '@temporalio/client';
import type { CallResult } from '../environments/agent.ts';
import type { World } from '../environments/world.ts';
import { callId, operateUpdate } from '../workflows/messages.ts';
import type { CallOutcome, WorldAttempt } from './contract.ts';
import { checkCallUnder } from './fault-edge.ts';
import type { TrialContext } from './trial-context.ts';

/** Carries one call of an agent to its outcome. @throws what the ledger or the workflow's server threw: the harness's trouble. */
export type CarryCall = (tool: string, args: unknown, idempotencyKey: string | null) => Promise<CallResult>;

/**
 * The way of every call of one attempt's agent, whatever its kind: checked at this edge, written to the ledger, carried through the trial's door as a workflow
 * Update. Calls are numbered as they come, and the door accepts them in that order: a call is sent once the one before it has been accepted.
 */
export function callCarrier(
  { rules, environment, kase }: Pick<TrialContext, 'rules' | 'environment' | 'kase'>,
  { ledger }: Pick<World, 'ledger'>,
  trial: Pick<WorkflowHandle, 'startUpdate'>,
  { attempt }: Pick<WorldAttempt, 'attempt'>,
): CarryCall {
  let calls = 0;
  let before: Promise<unknown> = Promise.resolve();

  const accepted = async (id: string, tool: string, args: unknown, idempotencyKey: string | null) => {
    const { proposal, call } = checkCallUnder(rules, environment.environment, kase.permission, { id, tool, args, idempotencyKey });
    await ledger.propose(proposal);
    return trial.startUpdate(operateUpdate, { updateId: callId(attempt, id), args: [call, attempt], waitForStage: 'ACCEPTED' });
  };

  return async (tool, args, idempotencyKey) => {
    const id = `op-${++calls}`;
    const update = before.then(() => accepted(id, tool, args, idempotencyKey));
    before = update.catch(() => {});
    const outcome: CallOutcome = await (await update).result();
    const row = outcome.state === 'committed' ? await ledger.read(outcome.operation) : null;
    return { operation: outcome.operation, state: outcome.state, result: row?.result ?? null, problem: outcome.problem };
  };
}
