import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { WorkflowClient } from '@temporalio/client';
import type { ServiceAccess } from '../domain/agent.ts';
import type { ModelRoute } from '../domain/model.ts';
import type { World } from '../environments/world.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ModelClient } from '../models/client.ts';
import { awaitDecision } from './await-decision.ts';
import { type CallName, callCarrier } from './carry-call.ts';
import { permittedTools } from './check-call.ts';
import { programTurns } from './command-agent/turns.ts';
import type { ConversationEnd, MemberPart, WorldAttempt } from './contract.ts';
import { interruption, passing } from './failures.ts';
import { leftConversation } from './resume-conversation.ts';
import { askingModels } from './module-agent/asking-models.ts';
import { runGatewayAgent } from './gateway-agent/conversation.ts';
import { headersOf } from './http-agent/headers.ts';
import { httpTurns } from './http-agent/turns.ts';
import { instructionsOf } from './instructions.ts';
import { Part } from './member-part.ts';
import { modelAccount, modelSpending } from './model-account.ts';
import { modelVariables } from './model-variables.ts';
import { runModuleAgent } from './module-agent/host.ts';
import type { OpenTurn } from '../store/store.ts';
import type { ActivityServices } from './services.ts';
import type { TrialContext } from './trial-context.ts';
import { ConversationOver, userSide } from './user-side.ts';
import { accessVariables, worldAccess } from './world-access.ts';

export interface ConverseOptions {
  readonly workflows: WorkflowClient;
  /** Values of variables of our environment that an agent's description names; unset ones are left out. */
  readonly environmentOf: (names: readonly string[]) => { readonly [name: string]: string };
  /** Where programs act. */
  readonly gateway: Gateway;
  /** How models are asked, for agents and simulated users; it keeps the rate limits of their routes. */
  readonly models: ModelClient;
}

/** Runs an agent that has code of its own, or a server. Each of its calls is checked here, written to the ledger, and carried through the trial's door as a workflow Update. */
export async function converse(
  services: ActivityServices,
  { workflows, environmentOf, gateway, models }: ConverseOptions,
  context: TrialContext,
  world: World,
  at: WorldAttempt & { readonly part?: MemberPart },
): Promise<ConversationEnd> {
  const { kase, environment } = context;
  const part = at.part ? await Part.begin(context, world, at.part) : null;
  // Of a team, each goes by its name there.
  const agent = part ? { ...part.member.agent, name: part.member.name } : context.agent;
  const { workflowExecution } = activityInfo();
  const trial = workflows.getHandle(workflowExecution?.workflowId ?? at.trial, workflowExecution?.runId);
  // Only an agent that lives elsewhere, and is asked for its answer, outlives our worker; one of a team does not.
  const left = agent.kind === 'http' && !part && activityInfo().attempt > 1 ? await leftConversation(services.store, world, at) : null;
  const names = {
    calls: at.part?.calls ?? left?.calls ?? 0,
    operations: new Map(left?.named.map(({ id, operation }) => [id, operation])),
    note: ({ id, digest }: CallName, operation: string) => services.store.putGatewayCall(at.trial, at.attempt, { id, digest, operation }),
  };
  const carried = callCarrier(context, world, trial, at, names, part?.actor ?? null);
  const carry = part?.carries(carried) ?? carried;
  const user = userSide(context, services.store, trial, at, { asked: at.part?.heard ?? left?.turn.asked ?? 0, actor: part?.member.name ?? null });
  const budget = part?.left(kase.budget) ?? kase.budget;
  const over = new AbortController();
  const common = {
    decided: awaitDecision(services.store, at, over.signal),
    instructions: instructionsOf(context, part?.permission),
    user: part?.hears(user) ?? user,
    signal: cancellationSignal(),
  };
  const throughGateway = {
    ...common,
    gateway,
    tools: part?.tools(context) ?? permittedTools(environment, kase.permission),
    budget,
    at,
    carry,
    late: (detail: string) => world.ledger.late({ source: 'door', operation: null, detail }),
  };
  const modelsOf = async (routes: readonly ModelRoute[] = [], secrets: { readonly [name: string]: string }) => {
    const known = { ...environmentOf(routes.flatMap(({ key }) => key ?? [])), ...secrets };
    const account = await modelAccount(services, context, at, { routes, secrets: known, member: part?.member.name ?? null });
    return { account, client: models };
  };
  const ownAccess = (access: readonly ServiceAccess[] = []) => worldAccess(services.addresses, environment.environment, world, access);

  const run = async (): Promise<ConversationEnd> => {
    switch (agent.kind) {
      case 'module': {
        const own = await ownAccess(agent.access);
        const env = environmentOf(agent.env);
        const models = await modelsOf(agent.routes, { ...env, ...accessVariables(own) });
        const place = { trial: at.trial, attempt: at.attempt, agent: agent.name };
        return await askingModels(gateway, place, { models, late: throughGateway.late, signal: common.signal }, ({ door, signal, clock }) =>
          runModuleAgent({
            ...common,
            signal,
            clock,
            file: agent.file,
            parameters: agent.parameters,
            services: own,
            env: { ...env, ...modelVariables(door, agent.providerVariables ?? false) },
            tools: part?.tools(context) ?? environment.toolSchemas,
            wallMs: budget.wallMs,
            call: carry,
          }),
        );
      }
      case 'command': {
        const own = { ...environmentOf(agent.env), ...accessVariables(await ownAccess(agent.access)) };
        // Neither the program nor what it starts is found without a PATH.
        const env = { ...environmentOf(['PATH']), ...own };
        return await runGatewayAgent({ ...throughGateway, agent, models: await modelsOf(agent.routes, own) }, programTurns(agent, env));
      }
      case 'http': {
        const headers = headersOf(agent, environmentOf);
        const own = await ownAccess(agent.access);
        const asking = await modelsOf(agent.routes, { ...headers, ...accessVariables(own) });
        const lasting = {
          left: left && { status: left.turn.status, before: { calls: left.calls, names: left.named } },
          note: (turn: OpenTurn | null) => services.store.setOpenTurn(at.trial, at.attempt, turn),
        };
        return await runGatewayAgent({ ...throughGateway, agent, models: asking, ...(!part && { lasting }) }, httpTurns({ agent, headers, services: own }));
      }
      default:
        throw new Error(`agent ${agent.name} has no code of its own`);
    }
  };

  try {
    const end = await run();
    return part ? { ...part.ends(end), spent: await modelSpending(services.store, at) } : end;
  } catch (error) {
    if (error instanceof ConversationOver) return error.end;
    const failure = cancellationSignal().aborted ? interruption(cancellationSignal()) : error;
    throw agent.kind === 'http' && !part && (await services.store.openTurn(at.trial, at.attempt)) ? passing(failure) : failure;
  } finally {
    over.abort();
  }
}
