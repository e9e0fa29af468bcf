import { ApplicationFailure } from '@temporalio/common';
import type { Case } from '../domain/case.ts';
import type { Json } from '../domain/json.ts';
import { printable } from '../domain/text/bounded.ts';
import type { Tool, ToolContext, WorldSql } from '../environments/define.ts';
import { ToolFailure } from '../environments/define.ts';
import { createWorldMail } from '../environments/inbox/client.ts';
import { createWorldTickets } from '../environments/tickets/client.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { MAX_PROBLEM_LENGTH, strict } from './check-call.ts';
import { failureDetail } from './failure-detail.ts';
import { isPassing, isServiceLoss } from './failures.ts';
import type { ActivityServices } from './services.ts';

export interface OperateRequest {
  readonly world: World;
  readonly environment: LoadedEnvironment;
  readonly permission: Case['permission'];
  readonly operation: string;
  readonly tool: string;
  /** How-manieth dispatch of this operation; late writes of an earlier one are refused. */
  readonly dispatch: number;
  readonly signal: AbortSignal;
}

/**
 * Runs one proposed call. A tool that works by SQL does so in the transaction that also writes its ledger row; a tool that works through a service
 * is settled in the ledger after the service has replied, and the service's own record knows the operation meanwhile.
 *
 * @throws {ToolFailure} when the tool knows that it had no effect; anything else that is thrown leaves the outcome open.
 */
export async function operate(services: ActivityServices, request: OperateRequest): Promise<void> {
  const { world, environment, operation, dispatch } = request;
  const tool = environment.environment.tools.find((candidate) => candidate.name === request.tool);
  const row = await world.ledger.read(operation);
  if (!tool || !row)
    throw ApplicationFailure.nonRetryable(`operation ${operation} (${request.tool}) is not in the ledger of world ${world.ref.id}`, 'LedgerMissing');
  // A dispatch that is repeated after its reply was lost must not act again.
  if (row.state === 'committed') return;
  const args = strict(tool.input).parse(row.args);
  const attempt = { id: operation, attempt: dispatch };
  const startedAt = performance.now();
  try {
    if (tool.effect === 'external') {
      const value = await tool.run(args, await contextOf(services, request, sqlOf(services, world, attempt)));
      services.failpoint('service_replied_before_ledger');
      await world.ledger.settle(operation, dispatch, { state: 'committed', result: resultOf(tool, value), durationMs: performance.now() - startedAt });
    } else {
      await world.transact(attempt, async (sql) => {
        const result = resultOf(tool, await tool.run(args, await contextOf(services, request, sql)));
        services.failpoint('tool_wrote_before_commit');
        return { value: undefined, result };
      });
    }
  } catch (error) {
    await explain(services, request, error);
    if (error instanceof ToolFailure && !isServiceLoss(error)) {
      await world.ledger.settle(operation, dispatch, { state: 'failed', problem: problemOf(error), durationMs: performance.now() - startedAt });
    }
    // A tool's own database error says that its transaction was rolled back: without effect, but not in words that it declared.
    if (!(error instanceof ToolFailure) && isSqlError(error) && !isPassing(error)) {
      const failure = new ToolFailure('tool_error', 'The tool failed and changed nothing.');
      await world.ledger.settle(operation, dispatch, { state: 'failed', problem: problemOf(failure), durationMs: performance.now() - startedAt });
      services.log.warn({ operation, tool: request.tool, err: error }, 'a tool ended with a database error');
      throw failure;
    }
    throw error;
  }
  services.failpoint('committed_before_reply');
}

/** Keeps what the failure says for operators. A failure of doing so must not hide the failure itself. */
async function explain(services: ActivityServices, { world, operation, tool, dispatch, signal }: OperateRequest, error: unknown): Promise<void> {
  // What a library throws when it is told to stop says nothing of the tool.
  if (signal.aborted && !(error instanceof ToolFailure)) return;
  try {
    const { toolSecret, agentSecret } = await world.credentials();
    const detail = failureDetail(error, [toolSecret, agentSecret]);
    if (detail !== null) await world.ledger.explain(operation, dispatch, detail);
  } catch (lost) {
    services.log.warn({ operation, tool, err: lost }, 'why a tool failed could not be kept');
  }
}

async function contextOf(services: ActivityServices, request: OperateRequest, db: WorldSql): Promise<ToolContext> {
  const { world, operation, dispatch } = request;
  const [clock, credentials] = await Promise.all([world.clock(), world.credentials()]);
  const attempt = { id: operation, attempt: dispatch };
  return {
    operation: attempt,
    permission: request.permission,
    now: clock.now,
    timezone: clock.timezone,
    db,
    mail: createWorldMail({ address: services.addresses.smtp, credentials, operation: attempt, now: clock.now }),
    tickets: createWorldTickets({ url: services.addresses.tickets, credentials, operation: attempt }),
    signal: request.signal,
  };
}

/** SQL of a tool that works through services: each query is a transaction of its own, attributed to the operation. */
function sqlOf(services: ActivityServices, world: World, attempt: { id: string; attempt: number }): WorldSql {
  return {
    async query(text, values) {
      const { toolSecret } = await world.credentials();
      const session = await services.worlds.authenticate(world.ref.id, toolSecret);
      if (!session) throw ApplicationFailure.nonRetryable(`world ${world.ref.id} refused its own tools`, 'WorldGone');
      return session.transact(attempt, (sql) => sql.query(text, values));
    },
  };
}

function resultOf(tool: Tool, value: unknown): Json {
  return JSON.parse(JSON.stringify(tool.result.parse(value) ?? null)) as Json;
}

function problemOf(failure: ToolFailure): { code: string; message: string; retryAfterSeconds?: number } {
  return {
    code: failure.code,
    message: printable(failure.message, MAX_PROBLEM_LENGTH),
    ...(failure.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: failure.retryAfterSeconds }),
  };
}

/** A reply of the database server itself; carries a SQLSTATE of five characters. */
function isSqlError(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
}
