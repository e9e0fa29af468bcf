import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { WorkflowClient } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ServiceAccess } from '../domain/agent.ts';
import type { AgentServices, CallResult } from '../environments/agent.ts';
import type { World } from '../environments/world.ts';
import { callId, operateUpdate } from '../workflows/messages.ts';
import { checkCallUnder } from './fault-edge.ts';
import type { CallOutcome, ConversationEnd, WorldAttempt } from './contract.ts';
import { interruption } from './failures.ts';
import { instructionsOf } from './instructions.ts';
import { runModuleAgent } from './module-agent/host.ts';
import type { ActivityServices } from './services.ts';
import type { TrialContext } from './trial-context.ts';

const HEARTBEAT_MS = 2_000;

/** Runs a module agent. Each of its calls is checked here, written to the ledger, and carried through the trial's door as a workflow Update. */
export async function converse(
  services: ActivityServices,
  workflows: WorkflowClient,
  context: TrialContext,
  world: World,
  at: WorldAttempt,
  environmentOf: (names: readonly string[]) => { readonly [name: string]: string },
): Promise<ConversationEnd> {
  const { agent, kase, environment, rules } = context;
  if (agent.kind !== 'module') throw new Error(`agent ${agent.name} is no module`);
  const { workflowExecution } = activityInfo();
  const handle = workflows.getHandle(workflowExecution?.workflowId ?? at.trial, workflowExecution?.runId);
  const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
  let calls = 0;

  const call = async (tool: string, args: unknown, idempotencyKey: string | null): Promise<CallResult> => {
    const id = `op-${++calls}`;
    const checked = checkCallUnder(rules, environment.environment, kase.permission, { id, tool, args, idempotencyKey });
    await world.ledger.propose(checked.proposal);
    const outcome: CallOutcome = await handle.executeUpdate(operateUpdate, { updateId: callId(at.attempt, id), args: [checked.call, at.attempt] });
    const row = outcome.state === 'committed' ? await world.ledger.read(outcome.operation) : null;
    return { operation: outcome.operation, state: outcome.state, result: row?.result ?? null, problem: outcome.problem };
  };

  try {
    return await runModuleAgent({
      file: agent.file,
      parameters: agent.parameters,
      services: await servicesFor(services, world, agent.access ?? []),
      env: environmentOf(agent.env),
      instructions: instructionsOf(context),
      tools: environment.toolSchemas,
      turns: kase.turns,
      wallMs: kase.budget.wallMs,
      signal: cancellationSignal(),
      call,
      said: (turn, from, text, data) => services.store.addMessage(at.trial, at.attempt, { turn, from, text, data }),
    });
  } catch (error) {
    throw cancellationSignal().aborted ? interruption(cancellationSignal()) : error;
  } finally {
    clearInterval(beat);
  }
}

/** Addresses and credentials that the agent's description asks for. They pass to its process alone. */
async function servicesFor(services: ActivityServices, world: World, access: readonly ServiceAccess[]): Promise<AgentServices> {
  if (access.length === 0) return {};
  const { user, agentSecret, sqlUrl } = await world.credentials();
  const { smtp, tickets } = services.addresses;
  if (access.includes('sql') && sqlUrl === null) {
    const message = 'an agent with SQL of its own needs a world with a database of its own: run with --isolation database or container';
    throw ApplicationFailure.nonRetryable(message, 'AccessNeedsDatabase');
  }
  return {
    ...(access.includes('inbox') && { inbox: { ...smtp, user, password: agentSecret } }),
    ...(access.includes('tickets') && { tickets: { url: tickets, headers: { authorization: `Bearer ${user}.${agentSecret}` } } }),
    ...(access.includes('sql') && sqlUrl !== null && { sql: { url: sqlUrl } }),
  };
}
