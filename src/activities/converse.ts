import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { WorkflowClient } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ServiceAccess } from '../domain/agent.ts';
import type { JsonObject } from '../domain/json.ts';
import type { AgentServices } from '../environments/agent.ts';
import type { World } from '../environments/world.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ModelClient } from '../models/client.ts';
import { callCarrier } from './carry-call.ts';
import { permittedTools } from './check-call.ts';
import { runCommandAgent } from './command-agent/conversation.ts';
import type { ConversationEnd, WorldAttempt } from './contract.ts';
import { interruption } from './failures.ts';
import { instructionsOf } from './instructions.ts';
import { runModuleAgent } from './module-agent/host.ts';
import type { ActivityServices } from './services.ts';
import type { TrialContext } from './trial-context.ts';

const HEARTBEAT_MS = 2_000;

export interface ConverseOptions {
  readonly workflows: WorkflowClient;
  /** Values of variables of our environment that an agent's description names; unset ones are left out. */
  readonly environmentOf: (names: readonly string[]) => { readonly [name: string]: string };
  /** Where programs act. */
  readonly gateway: Gateway;
  /** How models are asked, for agents and simulated users; it keeps the rate limits of their routes. */
  readonly models: ModelClient;
}

/** Runs an agent that has code of its own. Each of its calls is checked here, written to the ledger, and carried through the trial's door as a workflow Update. */
export async function converse(
  services: ActivityServices,
  { workflows, environmentOf, gateway }: ConverseOptions,
  context: TrialContext,
  world: World,
  at: WorldAttempt,
): Promise<ConversationEnd> {
  const { agent, kase, environment } = context;
  const { workflowExecution } = activityInfo();
  const trial = workflows.getHandle(workflowExecution?.workflowId ?? at.trial, workflowExecution?.runId);
  const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
  const carry = callCarrier(context, world, trial, at);
  const common = {
    instructions: instructionsOf(context),
    turns: kase.turns,
    signal: cancellationSignal(),
    said: (turn: number, from: 'user' | 'agent', text: string, data: JsonObject | null) =>
      services.store.addMessage(at.trial, at.attempt, { turn, from, text, data }),
  };

  try {
    switch (agent.kind) {
      case 'module':
        return await runModuleAgent({
          ...common,
          file: agent.file,
          parameters: agent.parameters,
          services: await servicesFor(services, world, agent.access ?? []),
          env: environmentOf(agent.env),
          tools: environment.toolSchemas,
          wallMs: kase.budget.wallMs,
          call: carry,
        });
      case 'command':
        return await runCommandAgent({
          ...common,
          agent,
          // Neither the program nor what it starts is found without a PATH.
          env: environmentOf(['PATH', ...agent.env]),
          gateway,
          tools: permittedTools(environment, kase.permission),
          budget: kase.budget,
          carry,
          late: (detail) => world.ledger.late({ source: 'door', operation: null, detail }),
        });
      default:
        throw new Error(`agent ${agent.name} has no code of its own`);
    }
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
